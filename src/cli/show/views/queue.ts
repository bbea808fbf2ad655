import { wordApprover } from '../../../core/queue-view.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { taskName, taskNames } from '../words.ts';
import { sizeOf } from '../work-size.ts';

type Queue = NonNullable<ResultOf<'work.show'>['queue']>;
type Entry = Queue['entries'][number];

/** The merge queue: what lands now, what waits, and why the last landing brought nothing. Empty if nothing waits. */
export function showQueue(queue: Queue | undefined, screen: Screen): string {
  if (!queue) return '';
  const { entries, asked, ended, sentBack } = queue;
  // A rejected work has a line of its own.
  const isTold = ended?.how === 'red' && sentBack.some(({ taskId }) => ended.tasks.includes(taskId));
  const lines = [
    ...(ended && !isTold ? [endedLine(ended, screen)] : []),
    ...sentBack.map((one) => backLine(one, screen)),
  ];
  const waiting = askedTable(asked, screen);
  if (entries.length === 0) return `${waiting}${lines.length === 0 ? '' : `\n${lines.join('')}`}`;
  const rows = entries.map((entry): Cell[] => [
    String(entry.place),
    taskName(entry.taskId),
    entry.title,
    entry.hasLeft ? { text: `${entry.memberId} (stopped)`, style: 'dim' } : entry.memberId,
    sizeOf(entry),
    { text: timeOf(entry.since, screen), style: 'dim' },
    stateCell(entry, queue, screen),
  ]);
  const columns = [
    { title: 'QUEUE', align: 'right' },
    { title: '#', align: 'right' },
    { title: 'TASK', flexible: true },
    { title: 'WHO', spare: 1 },
    { title: 'CHANGED', spare: 2 },
    { title: 'HANDED IN', spare: 3 },
    { title: 'NOW' },
  ] as const;
  return `\n${table(columns, rows, screen)}${lines.join('')}${waiting}`;
}

/** What the gates accepted, who has to approve it, and since when. */
function askedTable(asked: Queue['asked'], screen: Screen): string {
  if (asked.length === 0) return '';
  const rows = asked.map((one): Cell[] => [
    taskName(one.taskId),
    one.title,
    one.memberId,
    sizeOf(one),
    { text: timeOf(one.since, screen), style: 'dim' },
    { text: wordApprover(one.reviewerId), style: one.reviewerId === undefined ? 'yellow' : 'cyan' },
  ]);
  const columns = [
    { title: '#', align: 'right' },
    { title: 'TO APPROVE', flexible: true },
    { title: 'WHO', spare: 1 },
    { title: 'CHANGED', spare: 2 },
    { title: 'SINCE', spare: 3 },
    { title: 'NOW' },
  ] as const;
  const isYours = asked.some(({ reviewerId }) => reviewerId === undefined);
  return `\n${table(columns, rows, screen)}${isYours ? 'To look at it and answer: troupe approve\n' : ''}`;
}

function stateCell({ taskId, isLanding, alone }: Entry, { entries, landingSince }: Queue, screen: Screen): Cell {
  if (isLanding) {
    const others = entries.filter((other) => other.isLanding && other.taskId !== taskId);
    const together = others.length === 0 ? '' : ` with ${taskNames(others.map((other) => other.taskId))}`;
    const since = landingSince === undefined ? '' : `, began ${timeOf(landingSince, screen)}`;
    return { text: `is judged${together}${since}`, style: 'cyan' };
  }
  if (alone === 'judging') return 'waits, is judged alone';
  return alone === 'green' ? 'waits, passed alone' : { text: 'waits', style: 'dim' };
}

const ENDS = {
  red: 'was rejected',
  split: 'was rejected together and is halved',
  dropped: 'was given up and begins again',
} as const;

function endedLine({ how, why, tasks, at }: NonNullable<Queue['ended']>, screen: Screen): string {
  const text = `The last landing (${taskNames(tasks)}) ${ENDS[how]}, ${timeOf(at, screen)}: ${clean(why)}`;
  return `${paint(screen, how === 'dropped' ? 'dim' : 'yellow', text)}\n`;
}

function backLine({ taskId, memberId, why, conflicts }: Queue['sentBack'][number], screen: Screen): string {
  const said = conflicts.length === 0 ? why : `it conflicts in ${conflicts.join(', ')}`;
  return `${paint(screen, 'yellow', `${taskName(taskId)} went back to ${clean(memberId)}: ${clean(said)}`)}\n`;
}

function timeOf(at: number, screen: Screen): string {
  return showTime(new Date(at).toISOString(), screen);
}
