import { shorten } from '../core/text.ts';
import type { Bench } from './bench.ts';
import type { Door } from './door.ts';

/** Of one's own results and notes the last so many, so much of each. Characters. */
const KEPT = 10;
const KEPT_LENGTH = 400;

/**
 * What a member must know to go on in a fresh session: where its team stands, what it did itself, and what it wrote down.
 * The rest is one look-up away.
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
