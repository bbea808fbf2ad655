import { shorten } from '../core/text.ts';
import type { Bench } from './bench.ts';
import type { Door } from './door.ts';

/** How many of its own results and notes a member gets, and how many characters of each. */
const KEPT = 10;
const KEPT_LENGTH = 400;

/**
 * What a member needs to continue in a fresh session: the state of its team, its own results, and its notes. It can
 * look up the rest.
 */
export async function makeHandover(door: Door, { teamId, memberId }: Bench['who']): Promise<string> {
  const [digest, tasks, notes] = await Promise.all([
    door.call('team.digest', { teamId }),
    door.call('task.list', { teamId, assigneeId: memberId, status: 'completed' }),
    door.call('note.list', { teamId }),
  ]);
  const results = tasks.slice(-KEPT).map(({ id, title, result }) => `#${id} ${title}: ${inShort(result ?? '')}`);
  const written = notes.filter(({ authorId }) => authorId === memberId).slice(-KEPT);
  return [
    'Your conversation had become too long; you go on in a fresh one. Nothing of your work is lost.',
    digest.text,
    ...(results.length > 0 ? ['What you did so far:', ...results] : []),
    ...(written.length > 0 ? ['What you wrote down:', ...written.map(({ text }) => `- ${inShort(text)}`)] : []),
  ].join('\n');
}

function inShort(text: string): string {
  return shorten(text, KEPT_LENGTH).replaceAll(/\s*\n\s*/g, ' ');
}
