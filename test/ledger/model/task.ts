import type { CommandOf } from '../../../src/core/command.ts';
import {
  ask,
  change,
  isManager,
  needActor,
  needManager,
  needOpenTeam,
  needPerson,
  needWorker,
  pendingGate,
  refused,
  unusedId,
} from './guard.ts';
import type { Attempt, Rules } from './guard.ts';
import { landWork, needLanding, needMerged, needSubmitted, sendBack, takeBack, withdraw } from './landing.ts';
import { isExpected, TEAM } from './world.ts';
import type { Task, World } from './world.ts';

/* Tasks in the model: their rules, and what is visible of them. */

/** The open dependencies of a task, whatever its own status. */
function openDependencies(world: World, task: Task): string[] {
  return task.dependencies.filter((id) => {
    const status = world.tasks.find((other) => other.id === id)?.status;
    if (status === 'failed') return task.onDependencyFailure !== 'proceed';
    return status === 'pending' || status === 'in_progress';
  });
}

/** The tasks in progress of others than this member with a file that the task has, too. */
function heldFiles(world: World, task: Task, memberId = task.assigneeId): string[] {
  return world.tasks
    .filter(({ status, assigneeId }) => status === 'in_progress' && assigneeId !== memberId)
    .filter(({ files = [] }) => files.some((one) => (task.files ?? []).some((other) => canMeet(one, other))))
    .map(({ id }) => id);
}

/** The model only has folders such as `a`, and `a/**` for what is in them. */
function canMeet(one: string, other: string): boolean {
  const [a, b] = [one, other].map((pattern) => pattern.replace(/\/\*\*$/, '').split('/')) as [string[], string[]];
  return a.every((name, i) => b[i] === undefined || b[i] === name);
}

export function isBlocked(world: World, task: Task): boolean {
  if (task.status !== 'pending') return false;
  return openDependencies(world, task).length > 0 || heldFiles(world, task).length > 0;
}

/** Whether a member could claim a pending task: it may change files that it changes already. */
function isReadyFor(world: World, task: Task, memberId: string): boolean {
  return openDependencies(world, task).length === 0 && heldFiles(world, task, memberId).length === 0;
}

/** The task that a member would get if it claimed any task. */
export function nextTask(world: World, memberId: string): Task | undefined {
  const ready = world.tasks.filter((task) => task.status === 'pending' && isReadyFor(world, task, memberId));
  const own = ready.filter((task) => task.assigneeId === memberId);
  const candidates = own.length > 0 ? own : ready.filter((task) => task.assigneeId === undefined);
  const rank = (task: Task) => ['critical', 'high', 'medium', 'low'].indexOf(task.priority);
  return candidates.sort((a, b) => rank(a) - rank(b) || Number(a.id) - Number(b.id))[0];
}

/** Everything visible of a task. */
export function observeTask(world: World, task: Task): object {
  const blocked = isBlocked(world, task);
  const blockedBy = blocked ? openDependencies(world, task) : [];
  const filesHeldBy = blocked ? heldFiles(world, task) : [];
  const asked = askedAbout(world, task);
  return {
    ...task,
    teamId: TEAM,
    ...(task.work?.state === 'submitted' && {
      work: {
        ...task.work,
        place: 1 + (world.team?.work?.queue ?? []).indexOf(task.id),
        ...(world.team?.work?.landing?.works.some(({ taskId }) => taskId === task.id) && { isLanding: true as const }),
      },
    }),
    ...(asked && task.work && { work: { ...task.work, waitsFor: asked } }),
    status: blocked ? 'blocked' : task.status,
    blockedBy,
    ...(filesHeldBy.length > 0 && { filesHeldBy }),
    /** The tasks that an explanation of the blocked status names. */
    named: [...blockedBy, ...filesHeldBy],
    blocks: world.tasks
      .filter((other) => other.status !== 'deleted' && other.dependencies.includes(task.id))
      .map(({ id }) => id),
  };
}

/** Who has to approve the work of a task, and since when. */
function askedAbout({ requests }: World, { id, work }: Task): { memberId?: string; since: number } | undefined {
  const question = requests.find(
    ({ kind, status, taskId }) => taskId === id && status === 'pending' && (kind === 'work' || kind === 'review'),
  );
  if (work?.state !== 'asked' || !question) return undefined;
  const since = question.requestedAt;
  return question.kind === 'review' ? { since, memberId: question.memberId } : { since };
}

/** A person may do anything to a budget. The lead and the creator may only add or lower limits. */
function needBudgetChange(
  world: World,
  { budget: before = {}, createdBy }: Task,
  { by, budget = {} }: CommandOf<'task.update'>,
  attempt: Attempt,
): void {
  const limits = Object.entries(before) as [keyof typeof before, number][];
  if (limits.some(([what, limit]) => (budget[what] ?? Infinity) > limit)) needPerson(by, attempt);
  needManager(world, by, attempt, createdBy);
}

function isEmpty(budget: object | undefined): boolean {
  return budget !== undefined && Object.keys(budget).length === 0;
}

export const TASK_RULES: Rules<'task'> = {
  'task.create'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    for (const id of command.dependencies) needTask(world, id, attempt);
    if (command.assigneeId !== undefined) needWorker(world, command.assigneeId, attempt);
    if (refused(attempt)) return;
    const task: Task = {
      id: String(world.tasks.length + 1),
      title: command.title,
      description: command.description,
      activeForm: command.activeForm,
      status: 'pending',
      priority: command.priority,
      assigneeId: command.assigneeId,
      reserved: command.assigneeId !== undefined,
      dependencies: [...new Set(command.dependencies)],
      files: command.files?.length === 0 ? undefined : command.files,
      onDependencyFailure: command.onDependencyFailure,
      budget: isEmpty(command.budget) ? undefined : command.budget,
      epoch: 0,
      revision: 1,
      rejections: 0,
      createdBy: command.by,
      createdAt: command.at,
      updatedAt: command.at,
      metadata: command.metadata,
    };
    world.tasks.push(task);
    attempt.facts.push(`task:created ${task.id}`);
    failThoseWhoFailToo(world, command.at, attempt, [task]);
  },

  'task.update'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    if (task && command.budget) needBudgetChange(world, task, command, attempt);
    if (refused(attempt) || !task) return;
    const {
      type: _type,
      at,
      by: _by,
      commandId: _id,
      taskId: _task,
      epoch: _epoch,
      revision: _revision,
      ...rest
    } = command;
    const { metadata, inner: _inner, ...changes } = rest;
    const policy = task.onDependencyFailure;
    touch(task, at, {});
    change(task, changes, metadata);
    if (task.files?.length === 0) task.files = undefined;
    if (isEmpty(task.budget)) task.budget = undefined;
    attempt.facts.push(`task:updated ${task.id}`);
    if (task.onDependencyFailure !== policy) failThoseWhoFailToo(world, at, attempt, [task]);
  },

  'task.assign'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    const { assigneeId, by, at } = command;
    if (assigneeId !== null) needWorker(world, assigneeId, attempt);
    if (!task) return;
    const isHeld = task.status === 'in_progress';
    if (!isHeld && task.status !== 'pending') attempt.codes.push('conflict');
    const takesFree = !isHeld && task.assigneeId === undefined && assigneeId === by;
    if (!takesFree && task.assigneeId !== by && task.createdBy !== by) needManager(world, by, attempt);
    if (refused(attempt)) return;
    const isSame = (task.assigneeId ?? null) === assigneeId;
    if (isSame && (isHeld || task.reserved === (assigneeId !== null))) return;
    withdraw(world, task, { at, why: 'the task was given to another member' }, attempt);
    reserve(task, { at, assigneeId: assigneeId ?? undefined }, attempt);
    if (isHeld) task.epoch++;
  },

  'task.claim'(world, command, attempt) {
    const { at, taskId, lease, memberId: by = command.by } = command;
    const team = needOpenTeam(world, attempt);
    if (by !== command.by) needManager(world, command.by, attempt);
    const member = needWorker(world, by, attempt);
    if (lease !== undefined && member?.agent) attempt.codes.push('invalid');
    if (team?.status === 'shutting-down' || member?.status === 'shutting-down') attempt.codes.push('conflict');
    const lead = world.members.find(({ id }) => id === team?.leadId);
    if (lead && !isExpected(lead) && at - lead.statusSince >= 60_000) attempt.codes.push('conflict');
    let task: Task | undefined;
    if (taskId !== undefined) {
      task = needTask(world, taskId, attempt);
      if (task && task.status !== 'pending') attempt.codes.push('claim_conflict');
      if (task?.assigneeId !== undefined && task.assigneeId !== by) attempt.codes.push('claim_conflict');
      if (task?.status === 'pending' && !isReadyFor(world, task, by)) attempt.codes.push('blocked');
    }
    if (refused(attempt)) return;
    task ??= nextTask(world, by);
    if (!task) return;
    const leaseUntil = lease === undefined ? undefined : at + lease;
    touch(task, at, {
      status: 'in_progress',
      assigneeId: by,
      epoch: task.epoch + 1,
      startedAt: at,
      lease,
      leaseUntil,
    });
    attempt.facts.push(`task:claimed ${task.id}`);
  },

  'task.renew'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    const { lease } = task ?? {};
    if (lease !== undefined && command.by !== task?.assigneeId && command.by !== '@system') {
      attempt.codes.push('not_allowed');
    }
    if (refused(attempt) || !task || lease === undefined) return;
    task.leaseUntil = command.at + lease;
    attempt.facts.push(`task:renewed ${task.id}`);
  },

  'task.release'(world, command, attempt) {
    const task = needWritableTask(world, command, attempt);
    if (task && task.status !== 'in_progress') attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    withdraw(world, task, { at: command.at, why: 'the task was released' }, attempt);
    giveBack(world, task, command.at, attempt);
  },

  'task.complete'(world, command, attempt) {
    // What was handed in lands, even if its completer may not complete it any more.
    const isLanding = command.work?.landingId !== undefined;
    if (isLanding) needOpenTeam(world, attempt);
    const task = isLanding ? needTask(world, command.taskId, attempt) : needCompletable(world, command, attempt);
    if (task) needLanding(world, task, command, attempt);
    const isRefused = isLanding ? task?.work?.refused : command.refused;
    if (isRefused && !command.accepted && command.by !== '@user') attempt.codes.push('conflict');
    if (task && command.work) needMerged(world, task, command.work, attempt);
    if (refused(attempt) || !task) return;
    const member = world.members.find(({ id }) => id === command.by);
    landWork(world, task, command, attempt);
    touch(task, command.at, {
      status: 'completed',
      assigneeId: task.assigneeId ?? member?.id,
      result: command.result,
      completedAt: command.at,
    });
    attempt.facts.push(`task:completed ${task.id}`);
  },

  'task.reject'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needPerson(command.by, attempt);
    if (task && task.status !== 'in_progress') attempt.codes.push('conflict');
    const { work: given, commit, unable, refused: isRefused } = command;
    const work = unable || isRefused ? undefined : given;
    if (task && commit !== undefined) needSubmitted(task, commit, attempt);
    if (task && work) needMerged(world, task, work, attempt);
    if (refused(attempt) || !task) return;
    sendBackOf(world, task, { ...command, mayAsk: true }, attempt);
  },

  'task.fail'(world, command, attempt) {
    const task = needWritableTask(world, command, attempt);
    if (task && task.status !== 'in_progress' && task.status !== 'pending') attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    withdraw(world, task, { at: command.at, why: 'the task failed' }, attempt);
    fail(world, task, { at: command.at, reason: command.reason }, attempt);
  },

  'task.reopen'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt, { deleted: true });
    needManager(world, command.by, attempt, task?.createdBy);
    if (task && (task.status === 'pending' || task.status === 'in_progress')) attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    const { at } = command;
    touch(task, at, {
      status: 'pending',
      assigneeId: task.reserved ? task.assigneeId : undefined,
      epoch: task.epoch + 1,
      rejections: 0,
      feedback: task.status === 'completed' ? undefined : task.feedback,
      result: undefined,
      failure: undefined,
      work: undefined,
      startedAt: undefined,
      completedAt: undefined,
    });
    attempt.facts.push(`task:reopened ${task.id}`);
    const assignee = world.members.find(({ id }) => id === task.assigneeId);
    if (assignee && !isExpected(assignee)) reserve(task, { at, assigneeId: undefined }, attempt);
  },

  'task.delete'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needManager(world, command.by, attempt, task?.createdBy);
    if (refused(attempt) || !task) return;
    withdraw(world, task, { at: command.at, why: 'the task was deleted' }, attempt);
    touch(task, command.at, { status: 'deleted', epoch: task.epoch + 1 });
    for (const other of world.tasks.filter(({ dependencies }) => dependencies.includes(task.id))) {
      touch(other, command.at, { dependencies: other.dependencies.filter((id) => id !== task.id) });
    }
    attempt.facts.push(`task:deleted ${task.id}`);
  },

  'task.addDependencies'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    if (task && task.status !== 'pending') attempt.codes.push('conflict');
    const added = [...new Set(command.dependencies)].filter((id) => !task?.dependencies.includes(id));
    for (const id of added) {
      needTask(world, id, attempt);
      if (task && reaches(world, id, task.id)) attempt.codes.push('cycle');
    }
    if (refused(attempt) || !task || added.length === 0) return;
    touch(task, command.at, { dependencies: [...task.dependencies, ...added] });
    attempt.facts.push(`task:dependencies-added ${task.id}`);
    failThoseWhoFailToo(world, command.at, attempt, [task], added);
  },

  'task.removeDependencies'(world, command, attempt) {
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    if (task && task.status !== 'pending') attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    const kept = task.dependencies.filter((id) => !command.dependencies.includes(id));
    if (kept.length === task.dependencies.length) return;
    touch(task, command.at, { dependencies: kept });
    attempt.facts.push(`task:dependencies-removed ${task.id}`);
  },
};

/** A gate, a conflict or a reviewer sends work back; after five times a person is asked, if it `mayAsk`. */
export function sendBackOf(
  world: World,
  task: Task,
  command: Rejection & { readonly mayAsk: boolean },
  attempt: Attempt,
): void {
  const { at, feedback, result, work: given, refused: isRefused, mayAsk } = command;
  const unable = command.unable || isRefused;
  const work = unable ? undefined : given;
  const { id: taskId, epoch, assigneeId: memberId = '' } = task;
  const isLeft = task.work?.left === true && task.work.epoch === epoch;
  const times = work ? sendBack(world, task, command, work, attempt) : task.rejections + 1;
  if (unable) withdraw(world, task, { at, why: feedback }, attempt);
  else if (!work) {
    touch(task, at, { rejections: times, feedback });
    takeBack(world, task, at);
    attempt.facts.push(`task:rejected ${task.id}`);
  }
  // Its holder has stopped since it handed it in, so anybody does it again.
  const isReleased = isLeft && !unable;
  if (isReleased) giveBack(world, task, at, attempt);
  const isAsked = unable || (mayAsk && times >= 5 && (work || !isReleased));
  if (!isAsked || pendingGate(world, taskId)) return;
  const id = unusedId(world, at, (tick) => `gate-${tick}@${memberId}`);
  const content = isRefused
    ? `The model refused task #${taskId}. ${feedback}\nYes completes the task as it is. No gives it back, to be done ` +
      'again, with what you write.'
    : unable
      ? `No gate judged task #${taskId}. ${feedback}\nYes completes the task without the gate. No sends it back. ` +
        'After you fix the gate, it can judge the same work again.'
      : work
        ? `The work of task #${taskId} conflicted with landed work ${times} times, now in ${(work.conflicts ?? []).join(', ')}. ` +
          'Yes completes the task, and its work stays beside the branch. No sends it back.'
        : `Task #${taskId} was sent back ${times} times. The last feedback: ${feedback}`;
  const detail = {
    epoch,
    ...(result !== undefined && { result }),
    ...(work && { conflicted: true }),
    ...(isRefused && { refused: true }),
  };
  ask(world, { id, kind: 'gate', memberId, content, taskId, deadline: at + 24 * 3_600_000, detail }, command);
  attempt.facts.push(`request:raised ${id}`);
}

type Rejection = Pick<CommandOf<'task.reject'>, 'at' | 'by' | 'feedback' | 'result' | 'work' | 'unable' | 'refused'>;

export function needTask(world: World, taskId: string, attempt: Attempt, { deleted = false } = {}): Task | undefined {
  const task = world.tasks.find(({ id }) => id === taskId);
  if (!task || (task.status === 'deleted' && !deleted)) attempt.codes.push('not_found');
  return task;
}

interface TaskCommand {
  taskId: string;
  epoch?: number | undefined;
  revision?: number | undefined;
  by: string;
}

/** A task of an open team that matches the epoch and revision that the caller names. */
export function needOpenTask(world: World, command: TaskCommand, attempt: Attempt, options?: { deleted: boolean }) {
  needOpenTeam(world, attempt);
  const task = needTask(world, command.taskId, attempt, options);
  const { epoch = task?.epoch, revision = task?.revision } = command;
  if (task && epoch !== task.epoch) attempt.codes.push('stale_epoch');
  if (task && revision !== task.revision) attempt.codes.push('stale_revision');
  return task;
}

function needWritableTask(world: World, command: TaskCommand, attempt: Attempt): Task | undefined {
  const task = needOpenTask(world, command, attempt);
  needActor(world, command.by, attempt);
  const isHolder = task?.status === 'in_progress' && task.assigneeId === command.by;
  if (task && !isHolder && !isManager(world, command.by)) {
    const isOpen = task.status === 'pending' || task.status === 'in_progress';
    attempt.codes.push(!isOpen ? 'conflict' : isBlocked(world, task) ? 'blocked' : 'not_allowed');
  }
  return task;
}

/** A task that the caller may complete. */
export function needCompletable(world: World, command: TaskCommand, attempt: Attempt): Task | undefined {
  const task = needWritableTask(world, command, attempt);
  if (task && task.status !== 'in_progress' && task.status !== 'pending') attempt.codes.push('conflict');
  const member = world.members.find(({ id }) => id === command.by);
  if (member?.planApprovalRequired && !member.planApproved) attempt.codes.push('not_allowed');
  const isHolder = task?.status === 'in_progress' && task.assigneeId === command.by;
  if (member && !isHolder) needWorker(world, command.by, attempt);
  return task;
}

/** Whether one task depends on another, directly or through others. */
function reaches(world: World, from: string, to: string): boolean {
  if (from === to) return true;
  const task = world.tasks.find(({ id }) => id === from);
  return task?.dependencies.some((id) => reaches(world, id, to)) ?? false;
}

export function touch(task: Task, at: number, changes: Partial<Task>): void {
  Object.assign(task, changes, { updatedAt: at, revision: task.revision + 1 });
  if (task.status !== 'in_progress') Object.assign(task, { lease: undefined, leaseUntil: undefined });
}

export function release(task: Task, at: number, attempt: Attempt): void {
  touch(task, at, {
    status: 'pending',
    assigneeId: task.reserved ? task.assigneeId : undefined,
    epoch: task.epoch + 1,
    startedAt: undefined,
  });
  attempt.facts.push(`task:released ${task.id}`);
}

/** The same, of a task whose holder may have stopped: then it is reserved for nobody. */
export function giveBack(world: World, task: Task, at: number, attempt: Attempt): void {
  const holder = world.members.find(({ id }) => id === task.assigneeId);
  release(task, at, attempt);
  if (task.reserved && holder && !isExpected(holder)) reserve(task, { at, assigneeId: undefined }, attempt);
}

export function reserve(
  task: Task,
  { at, assigneeId }: { at: number; assigneeId: string | undefined },
  attempt: Attempt,
): void {
  touch(task, at, { status: 'pending', assigneeId, reserved: assigneeId !== undefined, startedAt: undefined });
  attempt.facts.push(`task:assigned ${task.id}`);
}

/** Fails a task, and its dependents with `onDependencyFailure: 'fail'`. */
export function fail(world: World, task: Task, { at, reason }: { at: number; reason: string }, attempt: Attempt): void {
  touch(task, at, { status: 'failed', failure: reason, completedAt: at });
  attempt.facts.push(`task:failed ${task.id}`);
  const waiting = world.tasks.filter(({ dependencies }) => dependencies.includes(task.id));
  failThoseWhoFailToo(world, at, attempt, waiting, [task.id]);
}

function failThoseWhoFailToo(
  world: World,
  at: number,
  attempt: Attempt,
  candidates: readonly Task[],
  because?: readonly string[],
): void {
  for (const task of candidates) {
    const causes = task.dependencies.filter((id) => because?.includes(id) ?? true);
    const hasFailed = causes.some((id) => world.tasks.find((other) => other.id === id)?.status === 'failed');
    if (hasFailed && task.status === 'pending' && task.onDependencyFailure === 'fail') {
      fail(world, task, { at, reason: 'a dependency failed' }, attempt);
    }
  }
}
