import type { CommandOf } from '../../../src/core/command.ts';
import type { HandedIn } from '../../../src/core/work.ts';
import { needOpenTeam, refused } from './guard.ts';
import type { Attempt, Rules } from './guard.ts';
import { isExpected } from './world.ts';
import type { Task, World } from './world.ts';

/* The merge queue in the model: what a holder hands in with a task, landings, and the tip of the branch. */

/** What the holder handed in, with or without a merge. */
type Handed = Omit<HandedIn, 'onto' | 'merged' | 'conflicts' | 'landingId' | 'mergedPack'>;

export const LANDING_RULES: Rules<'landing'> = {
  'landing.begin'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    const { at: since, landingId: id, hostId, onto, merged, works } = command;
    const open = team?.work?.landing;
    if (!refused(attempt) && open?.id === id) return;
    if (!team?.work || open) attempt.codes.push('conflict');
    needTip(world, onto, attempt);
    for (const { taskId, epoch, commit } of works) {
      const task = world.tasks.find((other) => other.id === taskId);
      if (!task || task.status === 'deleted') attempt.codes.push('not_found');
      else if (epoch !== task.epoch) attempt.codes.push('stale_epoch');
      else needSubmitted(task, commit, attempt);
    }
    if (refused(attempt) || !team?.work) return;
    Object.assign(team.work, { landing: { id, hostId, onto, merged, works, since }, queueHost: hostId });
    attempt.facts.push(`landing:begun ${id}`);
  },

  'landing.end'(world, command, attempt) {
    const team = needOpenTeam(world, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    if (!team?.work) attempt.codes.push('conflict');
    if (refused(attempt) || team?.work?.landing?.id !== command.landingId) return;
    const tasks = team.work.landing.works.map(({ taskId }) => taskId);
    const { how, why, at } = command;
    delete team.work.landing;
    team.work.ended = { how, why, tasks, at };
    attempt.facts.push(`landing:ended ${command.landingId}`);
  },
};

/** The work of the task's holder under its present epoch. On several machines, all of them can get it. */
export function needHeld(
  world: World,
  task: Task,
  { memberId, epoch, files, pack }: Pick<Handed, 'memberId' | 'epoch' | 'files' | 'pack'>,
  attempt: Attempt,
): void {
  if (!world.team?.work) attempt.codes.push('conflict');
  if (task.status !== 'in_progress' || task.assigneeId !== memberId) attempt.codes.push('conflict');
  if (world.team?.work?.roots && files > 0 && !pack) attempt.codes.push('conflict');
  if (task.epoch !== epoch) attempt.codes.push('stale_epoch');
}

export function needTip({ team }: World, onto: string, attempt: Attempt): void {
  if (team?.work && team.work.tip !== onto) attempt.codes.push('stale_revision');
}

/** A verdict is about the work that is in the queue now. */
export function needSubmitted({ work, epoch }: Task, commit: string, attempt: Attempt): void {
  const isSame = work?.state === 'submitted' && work.commit === commit && work.epoch === epoch;
  if (!isSame) attempt.codes.push('stale_revision');
}

/** Work that was merged onto the present tip: what is in the queue, or what the holder hands in with it. */
export function needMerged(world: World, task: Task, work: HandedIn, attempt: Attempt): void {
  if (!world.team?.work) attempt.codes.push('conflict');
  needTip(world, work.onto, attempt);
  if (!isQueued(task, work)) needHeld(world, task, work, attempt);
  else if (work.epoch !== task.epoch) attempt.codes.push('stale_epoch');
}

/** Work that was done apart counts only on the branch, unless a person says otherwise. */
export function needLanding(
  world: World,
  task: Task,
  { by, work }: Pick<CommandOf<'task.complete'>, 'by' | 'work'>,
  attempt: Attempt,
): void {
  const holder = world.members.find(({ id }) => id === task.assigneeId);
  const isApart = world.team?.work && task.status === 'in_progress' && holder?.workspace === 'own';
  const counts = by === '@user' || work?.files === 0 || work?.landingId !== undefined;
  if (isApart && !counts) attempt.codes.push('conflict');
  if (work?.landingId === undefined || work.files === 0) return;
  needInLanding(world, task, { commit: work.commit, landingId: work.landingId }, attempt);
  if (needApproval(world, task)) attempt.codes.push('conflict');
}

/** The open landing has this work. */
export function needInLanding(
  world: World,
  task: Task,
  { commit, landingId }: { commit: string; landingId: string },
  attempt: Attempt,
): void {
  needSubmitted(task, commit, attempt);
  const { landing } = world.team?.work ?? {};
  const isIn = landing?.id === landingId && landing.works.some(({ taskId }) => taskId === task.id);
  if (!isIn) attempt.codes.push('stale_revision');
}

/** Whether somebody has to approve the work of a task before it lands. In the model, patterns are `b/**`. */
export function needApproval({ team }: World, { work }: Task): boolean {
  if (!team?.work || work?.commit === undefined || work.approved === work.commit) return false;
  const { approve = 'never', review } = team.work;
  if (review !== undefined || approve === 'always') return true;
  const { files = 0, paths = [] } = work;
  return approve !== 'never' && (files > paths.length || paths.some((path) => path.startsWith('b/')));
}

export function isQueued(
  { work }: Task,
  { commit, epoch, files }: Pick<Handed, 'commit' | 'epoch' | 'files'>,
): boolean {
  return files > 0 && work?.state === 'submitted' && work.commit === commit && work.epoch === epoch;
}

/** Work joins the queue behind all that was first handed in before it. */
export function submit(
  world: World,
  task: Task,
  { at, by, result, refused }: { at: number; by: string; result?: string | undefined; refused?: boolean | undefined },
  { memberId, epoch, base, commit, files, added, removed, paths }: Handed,
  attempt: Attempt,
): void {
  const { aside } = task.work?.epoch === epoch ? task.work : {};
  const known = { ...kept(task, epoch), ...(aside !== undefined && { aside }) };
  const given = { memberId, epoch, base, commit, files, added, removed, paths, ...known };
  leaveQueue(world, task);
  attempt.facts.push(`work:submitted ${task.id}`);
  if (files === 0) return setWork(task, at, { ...given, state: 'unchanged' });
  const { queuedAt = at } = given;
  setWork(task, at, { ...given, state: 'submitted', queuedAt, completer: by, result, ...(refused && { refused }) });
  joinQueue(world, task);
}

export function joinQueue(world: World, task: Task): void {
  const { work } = world.team ?? {};
  if (!work) return;
  const since = (id: string) => world.tasks.find((other) => other.id === id)?.work?.queuedAt ?? 0;
  work.queue = [...(work.queue ?? []), task.id].sort((a, b) => since(a) - since(b));
}

/** What follows for the branch if a task is completed. */
export function landWork(world: World, task: Task, command: CommandOf<'task.complete'>, attempt: Attempt): void {
  const { team } = world;
  const { at, work } = command;
  if (!work) return withdraw(world, task, { at, why: 'the task was completed without it' }, attempt);
  if (!team?.work) return;
  const { onto, merged, conflicts = [], landingId } = work;
  if (!isQueued(task, work)) submit(world, task, command, work, attempt);
  if (work.files === 0) return;
  leaveQueue(world, task);
  if (merged !== undefined) {
    setWork(task, at, { ...settled(task), state: 'landed', onto, merged });
    const { landing } = team.work;
    const rest = landing?.id === landingId ? landing?.works.filter(({ taskId }) => taskId !== task.id) : undefined;
    team.work.tip = merged;
    delete team.work.ended;
    team.work.landing = landing && rest && rest.length > 0 ? { ...landing, works: rest } : undefined;
    attempt.facts.push(`work:landed ${task.id}`);
    return;
  }
  setWork(task, at, { ...settled(task), state: 'conflicted', onto, conflicts });
  attempt.facts.push(`work:conflicted ${task.id}`);
  const readers = [...new Set([team.leadId, work.memberId])].filter((id) =>
    world.members.some((member) => member.id === id && isExpected(member)),
  );
  if (readers.length === 0) return;
  const content =
    `Task #${task.id} (${JSON.stringify(task.title)}) is completed, but its work does not merge onto ${team.work.branch}: ` +
    `${conflicts.join(', ')} ${conflicts.length === 1 ? 'conflicts' : 'conflict'} with work that landed before. ` +
    `Nothing is lost: commit ${work.commit.slice(0, 7)} has it, and troupe diff ${task.id} shows it. ` +
    'To bring it in, make a task that repeats these changes on the present files.';
  const letters = readers.map((toId) => ({ id: `work-${task.id}-${work.epoch}/${toId}`, toId }));
  for (const letter of letters) {
    const metadata = { taskId: task.id };
    const sent = { type: 'system' as const, content, priority: 'normal', sentAt: at, redeliveries: 0, metadata };
    world.messages.push({ ...letter, fromId: '@system', ...sent });
  }
  attempt.facts.push(`message:sent ${letters.map(({ id }) => id).join(' ')}`);
}

/** Work that conflicts goes back. Returns how often it did under this epoch. */
export function sendBack(
  world: World,
  task: Task,
  command: Pick<CommandOf<'task.reject'>, 'at' | 'by' | 'feedback' | 'result'>,
  work: HandedIn,
  attempt: Attempt,
): number {
  const { commit, onto, conflicts = [] } = work;
  if (!isQueued(task, work)) submit(world, task, command, work, attempt);
  // The same work conflicts once, however often it is handed in.
  const isAgain = task.work?.sentBackAs === commit;
  const sentBack = (task.work?.sentBack ?? 0) + (isAgain ? 0 : 1);
  leaveQueue(world, task);
  setWork(task, command.at, { ...settled(task), state: 'conflicted', onto, conflicts, sentBack, sentBackAs: commit });
  task.feedback = command.feedback;
  attempt.facts.push(`work:conflicted ${task.id}`);
  return sentBack;
}

/** The holder does it again. */
export function takeBack(world: World, task: Task, at: number): void {
  if (!isWaiting(task)) return;
  leaveQueue(world, task);
  setWork(task, at, { ...settled(task), state: 'begun' });
}

/** Somebody else gets the task, or ends it. */
export function withdraw(world: World, task: Task, { at, why }: { at: number; why: string }, attempt: Attempt): void {
  if (!isWaiting(task)) return;
  leaveQueue(world, task);
  setWork(task, at, { ...settled(task), state: 'begun', withdrawn: why });
  attempt.facts.push(`work:withdrawn ${task.id}`);
}

/** The holder stops, but what it handed in stays in the queue. */
export function leave(task: Task, at: number, attempt: Attempt): void {
  if (!task.work || task.work.left) return;
  setWork(task, at, { ...task.work, left: true });
  attempt.facts.push(`work:left ${task.id}`);
}

/** Whether it was handed in: it waits in the queue, or for its approval. */
export function isWaiting({ work }: Task): boolean {
  return work?.state === 'submitted' || work?.state === 'asked';
}

export function leaveQueue({ team, requests }: World, task: Task): void {
  for (const request of requests) {
    const isAbout = request.taskId === task.id && (request.kind === 'work' || request.kind === 'review');
    if (isAbout && request.status === 'pending') request.status = 'withdrawn';
  }
  if (team?.work?.queue) team.work.queue = team.work.queue.filter((id) => id !== task.id);
}

/** What one holder keeps while it tries again: its place in the queue, and how often its work conflicted. */
export function kept({ work }: Task, epoch: number): { sentBack?: number; sentBackAs?: string; queuedAt?: number } {
  if (work?.epoch !== epoch) return {};
  const { sentBack, sentBackAs, queuedAt } = work;
  return {
    ...(sentBack !== undefined && { sentBack }),
    ...(sentBackAs !== undefined && { sentBackAs }),
    ...(queuedAt !== undefined && { queuedAt }),
  };
}

/** The work without what matters only while it waits. */
export function settled({ work }: Task): NonNullable<Task['work']> {
  const { completer: _completer, result: _result, refused: _refused, ...rest } = work as NonNullable<Task['work']>;
  return withoutJudged(rest);
}

export function withoutJudged(work: NonNullable<Task['work']>): NonNullable<Task['work']> {
  const { onto: _onto, merged: _merged, judged: _judged, ...rest } = work;
  return rest;
}

export function setWork(task: Task, at: number, work: Task['work']): void {
  Object.assign(task, { work, updatedAt: at, revision: task.revision + 1 });
}
