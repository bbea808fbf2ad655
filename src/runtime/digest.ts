import type { TeamState } from '../core/state.ts';
import { requireTeam } from '../core/view.ts';
import type { Stored } from '../journal/journal.ts';

/** What a lead is told of its team in one go. */
export interface Digest {
  /** The digest goes up to here: ask for the next one after it. */
  readonly seq: number;
  /** For the lead to read; empty when nothing worth a word happened. */
  readonly text: string;
  /** Nothing is open any more, or what is open cannot go on by itself. */
  readonly settled: boolean;
}

/** Of each result so much; the whole is one look-up away. Characters. */
const RESULT_LENGTH = 200;

/** Ends of tasks told one by one; of more, the number. */
const ENDS = 20;

/**
 * What happened after a batch, in a few lines: which tasks ended and how, who is idle, what waits for an answer, what is
 * left. One digest replaces a message per completion and per idle notice.
 */
export function makeDigest(state: TeamState, batches: readonly Stored[], seq: number): Digest {
  requireTeam(state);
  const ended = new Set<string>();
  let changed = false;
  for (const { events } of batches) {
    for (const event of events) {
      if (event.type === 'task:completed' || event.type === 'task:failed') ended.add(event.taskId);
      if (event.type === 'teammate:idle' || event.type === 'teammate:stopped' || event.type === 'request:raised') {
        changed = true;
      }
    }
  }
  const { pending, in_progress: inProgress, completed, failed } = state.index.counts;
  const working = [...state.members.values()].filter(
    (member) => member.status === 'active' && member.id !== state.team?.leadId,
  );
  const settled = inProgress === 0 && working.length === 0;
  if (ended.size === 0 && !changed) return { seq, text: '', settled };
  return {
    seq,
    settled,
    text: [
      ...endLines(state, ended),
      stateLine(state),
      `Tasks: ${completed} completed, ${inProgress} in progress, ${pending} to do, ${failed} failed.`,
    ].join('\n'),
  };
}

/** The whole of a team for one who has just come to lead it. */
export function fullDigest(state: TeamState, seq: number): Digest {
  const { id, description } = requireTeam(state);
  const open = [...state.tasks.values()].filter((task) => task.status === 'pending' || task.status === 'in_progress');
  const lines = open
    .slice(0, 50)
    .map((task) => `#${task.id} [${task.status}] ${task.title}${task.assigneeId ? ` (${task.assigneeId})` : ''}`);
  const { completed, failed } = state.index.counts;
  const head = `You lead the team ${id}${description ? `: ${description}` : ''}.`;
  const text = [
    head,
    stateLine(state),
    `Open tasks (${open.length}; ${completed} completed, ${failed} failed):`,
    ...lines,
  ].join('\n');
  return { seq, text, settled: open.length === 0 };
}

function endLines(state: TeamState, ended: ReadonlySet<string>): string[] {
  const lines = [...ended].slice(0, ENDS).flatMap((id) => {
    const task = state.tasks.get(id);
    if (!task) return [];
    const said = (task.status === 'failed' ? task.failure : task.result) ?? '';
    const short = said.length > RESULT_LENGTH ? `${said.slice(0, RESULT_LENGTH)}…` : said;
    return `#${id} ${task.status}: ${task.title}${task.assigneeId ? ` (${task.assigneeId})` : ''}${short ? ` — ${short.replaceAll('\n', ' ')}` : ''}`;
  });
  if (ended.size > ENDS) lines.push(`and ${ended.size - ENDS} more`);
  return lines;
}

function stateLine(state: TeamState): string {
  const by = (status: string): string[] =>
    [...state.members.values()]
      .filter((member) => member.status === status && member.id !== state.team?.leadId)
      .map((member) => member.id);
  const parts = [
    ['Working', by('active')],
    ['idle', by('idle')],
    ['stopped', by('stopped')],
  ] as const;
  return `${parts.flatMap(([word, names]) => (names.length > 0 ? `${word}: ${names.join(', ')}` : [])).join('; ') || 'No teammates'}.`;
}
