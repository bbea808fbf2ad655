import { whyBlocked } from '../../../core/blocked.ts';
import { showBudget } from '../../../core/budget-words.ts';
import { shortId } from '../../../core/commit-id.ts';
import { wordLease } from '../../../core/lease.ts';
import { waitsToLand, wordLanding } from '../../../core/queue-view.ts';
import { joinSome } from '../../../core/text.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Screen, Style } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { statusWord, taskName, taskNames, times } from '../words.ts';
import { sizeOf } from '../work-size.ts';
import { block, count, details, heading, metadataBeside } from './details.ts';
import type { Views } from './views.ts';

type Task = ResultOf<'task.show'>;

const STATUS: Readonly<Record<Task['status'], { mark: string; style: Style | undefined }>> = {
  pending: { mark: '○', style: 'cyan' },
  blocked: { mark: '·', style: 'dim' },
  in_progress: { mark: '◐', style: 'yellow' },
  completed: { mark: '●', style: 'green' },
  failed: { mark: '✗', style: 'red' },
  deleted: { mark: '-', style: 'dim' },
};

export const views: Views = {
  'task.list': (tasks, screen) => taskTable(tasks, screen),
  'task.show': (task, screen) => taskDetails(task, screen),
  'task.claim': (task, screen) =>
    // The command explains a null itself, before this is shown.
    task === null ? '' : taskDetails(task, screen, `${task.assigneeId} holds task`),
  'task.create': (task) => told(task, task.status === 'blocked' ? `added; it ${waitsOf(task)}` : 'added'),
  'task.update': (task) => told(task, `changed${skippedBy(task)}`),
  'task.assign': (task) => told(task, task.assigneeId ? `is reserved for ${task.assigneeId}` : 'is free for anybody'),
  'task.complete': (task) =>
    told(
      task,
      task.work && waitsToLand(task) ? `is handed in: ${wordLanding(task.work)}` : `is completed${skippedBy(task)}`,
    ),
  'task.reopen': (task) => told(task, `is ${statusWord(task.status)} again`),
  'task.depend': (task) => told(task, `waits for ${taskNames(task.dependencies)}`),
  'task.undepend': (task) =>
    told(task, task.dependencies.length > 0 ? `still waits for ${taskNames(task.dependencies)}` : 'waits for no task'),
};

/** A status as a mark and a word. Work that is handed in is in progress, and nobody works on it: it waits to land. */
export function statusCell({ status, work }: Pick<Task, 'status' | 'work'>): {
  text: string;
  short: string;
  style: Style | undefined;
} {
  if (status === 'in_progress' && work && waitsToLand({ work })) {
    if (work.state === 'asked') return { text: '◕ to approve', short: '◕', style: 'yellow' };
    return {
      text: `◕ ${work.isLanding ? 'landing' : `in queue ${work.place ?? ''}`.trimEnd()}`,
      short: '◕',
      style: 'cyan',
    };
  }
  const { mark, style } = STATUS[status];
  return { text: `${mark} ${statusWord(status)}`, short: mark, style };
}

/** Tasks as a table, and their number. */
function taskTable(tasks: readonly Task[], screen: Screen): string {
  if (tasks.length === 0) return 'There are no such tasks.\n';
  const rows = tasks.map((task): Cell[] => [
    taskName(task.id),
    statusCell(task),
    priorityCell(task),
    { text: task.title, style: task.status === 'blocked' || task.status === 'deleted' ? 'dim' : undefined },
    { text: task.assigneeId ?? '', style: task.status === 'pending' ? 'dim' : undefined },
    taskNames(task.dependencies, ' '),
    { text: showTime(task.updatedAt, screen), style: 'dim' },
  ]);
  const columns = [
    { title: '#', align: 'right' },
    { title: 'STATUS' },
    { title: 'PRIO', spare: 1 },
    { title: 'TASK', flexible: true },
    { title: 'WHO' },
    { title: 'NEEDS', spare: 2 },
    { title: 'CHANGED', spare: 3 },
  ] as const;
  return `${table(columns, rows, screen)}${screen.isTerminal ? `\n${countByStatus(tasks)}\n` : ''}`;
}

/** `12 tasks: 3 completed, 2 in progress`. */
function countByStatus(tasks: readonly Task[]): string {
  const order = ['completed', 'in_progress', 'pending', 'blocked', 'failed', 'deleted'] as const;
  const parts = order.flatMap((status) => {
    const found = tasks.filter((task) => task.status === status).length;
    return found === 0 ? [] : [`${found} ${statusWord(status)}`];
  });
  return `${count(tasks.length, 'task')}: ${parts.join(', ')}`;
}

function priorityCell({ priority, status }: Task): Cell {
  if (priority === 'medium') return '';
  const isOpen = status === 'pending' || status === 'in_progress' || status === 'blocked';
  const style = priority === 'critical' ? 'red' : priority === 'high' ? 'yellow' : 'dim';
  return { text: priority, style: isOpen ? style : 'dim' };
}

function waitsOf(task: Task): string {
  return whyBlocked(task, (ids) => `waits for ${taskNames(ids)}`);
}

/** The open dependencies of a task that ended without them. */
function skippedBy({ skipped = [] }: ResultOf<'task.complete'>): string {
  if (skipped.length === 0) return '';
  return `, though it waited for ${taskNames(skipped)}, which ${skipped.length === 1 ? 'is' : 'are'} not completed`;
}

/** What happened to a task, in one line. */
export function told(task: Pick<Task, 'id' | 'title'>, what: string): string {
  return `Task ${taskName(task.id)} ${clean(what)}: ${clean(task.title)}\n`;
}

function taskDetails(task: Task, screen: Screen, intro = 'Task'): string {
  const by = (time: string | undefined, who?: string): string =>
    time === undefined ? '' : `${showTime(time, screen)}${who === undefined ? '' : ` by ${who}`}`;
  const rows: (readonly [string, Cell | undefined])[] = [
    ['status', statusCell(task)],
    ['who', whoOf(task)],
    ['lease', wordLease(task, screen.now)],
    ['doing', task.status === 'in_progress' ? task.activeForm : undefined],
    ['why', task.blockedReason],
    ['work', workOf(task, screen)],
    ['sent back', task.rejections > 0 ? times(task.rejections) : undefined],
    ['priority', task.priority],
    ['needs', taskNames(task.dependencies)],
    ['needed by', taskNames(task.blocks)],
    ['files', task.files?.join(', ')],
    ['budget', task.budget && showBudget(task.budget)],
    ['created', by(task.createdAt, task.createdBy)],
    ['started', by(task.startedAt)],
    ['ended', by(task.completedAt)],
    ['changed', by(task.updatedAt)],
    ['epoch', `${task.epoch} (revision ${task.revision})`],
    ['id in file', idInFile(task)],
    ['metadata', metadataBeside(task.metadata, ['key'])],
  ];
  return (
    heading(`${intro} ${taskName(task.id)}: ${task.title}`, screen) +
    details(rows, screen) +
    block('description', task.description, screen) +
    block('feedback on the last try', feedbackOf(task), screen) +
    block('result', task.result, screen) +
    block('failure', task.failure, screen)
  );
}

/** Its id in the team file. A task without an id there has a key by its position, which is not shown. */
function idInFile({ metadata }: Task): string | undefined {
  const key = metadata?.['key'];
  return typeof key === 'string' && !/^task \d+$/.test(key) ? key : undefined;
}

/** Feedback is only shown until a later try is accepted. */
function feedbackOf({ status, work, feedback }: Task): string | undefined {
  return status === 'completed' || work?.state === 'asked' ? undefined : feedback;
}

/** What became of the work on a task, or what it waits for. */
function workOf({ work, status }: Task, screen: Screen): string | undefined {
  if (!work) return undefined;
  const { state, files = 0, merged = '', conflicts = [], queuedAt } = work;
  if (state === 'submitted') {
    const since = queuedAt === undefined ? '' : `, handed in ${showTime(new Date(queuedAt).toISOString(), screen)}`;
    return `${wordLanding(work)}: ${sizeOf(work)}${since}`;
  }
  if (state === 'asked') {
    const { since } = work.waitsFor ?? {};
    const when = since === undefined ? '' : `, asked ${showTime(new Date(since).toISOString(), screen)}`;
    return `${wordLanding(work)}: ${sizeOf(work)}${when}`;
  }
  if (state === 'landed') return `landed as ${shortId(merged)}: ${sizeOf(work)}`;
  if (state === 'unchanged') return 'no changes';
  if (state === 'conflicted') return `conflicts with the branch: ${joinSome(conflicts, ', ')}`;
  return status === 'in_progress' && queuedAt !== undefined && files > 0 ? `sent back: ${sizeOf(work)}` : undefined;
}

function whoOf({ assigneeId, status }: Task): string {
  if (assigneeId === undefined) return 'nobody';
  return status === 'pending' || status === 'blocked' ? `reserved for ${assigneeId}` : assigneeId;
}
