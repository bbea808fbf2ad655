import { SYSTEM, USER } from '../actor.ts';
import { approverOf, isHandedIn } from '../approval.ts';
import type { CommandEnvelope, CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { isApart } from '../folder.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { joinSome, quote } from '../text.ts';
import { requireTask, requireTeam } from '../view.ts';
import type { HandedIn, HandedInWork } from '../work.ts';
import { completable, readersOf, requireFresh, requireOpenTeam } from './guard.ts';
import { askAboutConflicts } from './request.ts';
import type { RulesOf } from './rule.ts';
import { requireHeldBy, requireWork } from './work.ts';

/** The rules of the merge queue. Completed means landed: every tip of the branch has passed the gates. */
export const LANDING_RULES: RulesOf<'landing'> & Pick<RulesOf<'work'>, 'work.submit'> = {
  'work.submit': submitWork,
  'landing.begin': beginLanding,
  'landing.end': endLanding,
};

/** Work joins the queue, or takes the place of what its holder handed in before. */
function submitWork(state: TeamState, command: CommandOf<'work.submit'>): TeamEvent[] {
  const task = completable(state, command);
  const { work } = task;
  const isSame = work?.commit === command.commit && work.epoch === command.epoch && command.files > 0;
  return isSame && isHandedIn(work) ? [] : [submitted(state, command, task, command)];
}

/** At most one landing is open. It names works as they are in the queue, merged onto the present tip. */
function beginLanding(state: TeamState, command: CommandOf<'landing.begin'>): TeamEvent[] {
  requireOpenTeam(state);
  requireTroupe(command);
  const { landingId, hostId, onto, merged, works } = command;
  const { landing } = requireWork(state);
  if (landing?.id === landingId) return [];
  if (landing) throw new TeamError('conflict', `${landing.hostId} lands works of team ${state.teamId} already`);
  requireTip(state, onto, `of team ${state.teamId}`);
  for (const { taskId, epoch, commit } of works) requireSubmitted(requireTask(state, taskId), commit, epoch);
  return [event(command, 'landing:begun', { landingId, hostId, onto, merged, works })];
}

/** What the landing was about is still in the queue. */
function endLanding(state: TeamState, command: CommandOf<'landing.end'>): TeamEvent[] {
  requireOpenTeam(state);
  requireTroupe(command);
  const { landingId, how, why } = command;
  if (requireWork(state).landing?.id !== landingId) return [];
  return [event(command, 'landing:ended', { landingId, how, why })];
}

/** Whether just this work waits already. */
function isQueued(
  { work }: TaskRecord,
  { commit, epoch, files }: Pick<HandedIn, 'commit' | 'epoch' | 'files'>,
): boolean {
  return files > 0 && work?.state === 'submitted' && work.commit === commit && work.epoch === epoch;
}

/** What was handed in stays in the queue, even if its holder stops or is restarted. */
export function leaveWork(command: CommandEnvelope, { id: taskId, epoch, work }: TaskRecord): TeamEvent[] {
  return work?.left ? [] : [event(command, 'work:left', { taskId, epoch })];
}

/** Whoever else gets the task, or ends it, takes its work out of the queue. */
export function withdrawWork(
  command: CommandEnvelope,
  { id: taskId, epoch, work }: TaskRecord,
  why: string,
): TeamEvent[] {
  return isHandedIn(work) ? [event(command, 'work:withdrawn', { taskId, epoch, why })] : [];
}

/** Work done apart counts only on the branch. Only a person may complete its task otherwise. */
export function requireLanding(
  state: TeamState,
  { by, work }: CommandOf<'task.complete'>,
  { id, status, assigneeId = '' }: TaskRecord,
): void {
  if (!isApart(state, assigneeId) || status !== 'in_progress' || by === USER) return;
  if (work && (work.files === 0 || work.landingId !== undefined)) return;
  throw new TeamError('conflict', `The work of task ${id} has to land first: hand it in`);
}

/** A model that refused has not done its task, unless a gate or a person says so. What waits to land says it itself. */
export function requireAccepted(
  { by, refused, accepted, work }: Pick<CommandOf<'task.complete'>, 'by' | 'refused' | 'accepted' | 'work'>,
  task: TaskRecord,
): void {
  const isRefused = work?.landingId === undefined ? refused : task.work?.refused;
  if (!isRefused || accepted || by === USER) return;
  throw new TeamError('conflict', `The model refused task ${task.id}: a gate or a person has to accept it first`);
}

/** The verdict of a gate is about this work, and no other. */
export function requireSubmitted(task: TaskRecord, commit: string, epoch = task.epoch): HandedInWork {
  requireFresh(task, { epoch });
  const { work } = task;
  const isSame = work?.commit === commit && work.epoch === task.epoch;
  if (isSame && isHandedIn(work) && work.state === 'submitted') return work;
  throw new TeamError(
    'stale_revision',
    `The work ${shortId(commit)} of task ${task.id} is not in the merge queue any more: look at the queue again`,
  );
}

/** What follows for the team's branch if a task is completed with this work. */
export function landWork(state: TeamState, command: CommandOf<'task.complete'>, task: TaskRecord): TeamEvent[] {
  const { work } = command;
  // A person completes it without its work.
  if (!work) return withdrawWork(command, task, 'the task was completed without it');
  const { epoch, commit, files, onto, merged, conflicts = [], landingId, mergedPack: pack } = work;
  const about = { taskId: task.id, epoch };
  const before = handedIn(state, command, task, work);
  if (files === 0) return before;
  if (landingId !== undefined) {
    requireInLanding(state, task, { commit, landingId });
    requireApproved(state, task);
  }
  if (merged !== undefined) {
    return [...before, event(command, 'work:landed', { ...about, commit, onto, merged, landingId, pack })];
  }
  const conflicted = event(command, 'work:conflicted', { ...about, commit, onto, files: conflicts });
  return [...before, conflicted, ...tellConflict(state, command, task, work)];
}

/** The open landing has this work. */
export function requireInLanding(
  { team }: TeamState,
  task: TaskRecord,
  { commit, landingId }: { readonly commit: string; readonly landingId: string },
): HandedInWork {
  const work = requireSubmitted(task, commit);
  const landing = team?.work?.landing;
  if (landing?.id === landingId && landing.works.some(({ taskId }) => taskId === task.id)) return work;
  throw new TeamError('stale_revision', `The landing of task ${task.id} is over: look at the queue again`);
}

function requireApproved(state: TeamState, task: TaskRecord): void {
  if (!approverOf(state, task)) return;
  throw new TeamError('conflict', `The work of task ${task.id} has to be approved before it lands`);
}

/** Work that conflicts with what landed goes back to its holder, whose workspace gets both sides. */
export function sendBackWork(
  state: TeamState,
  command: CommandOf<'task.reject'>,
  task: TaskRecord,
  work: HandedIn,
): TeamEvent[] {
  const { epoch, commit, onto, conflicts: files = [] } = work;
  const { feedback } = command;
  return [
    ...handedIn(state, command, task, work),
    event(command, 'work:conflicted', { taskId: task.id, epoch, commit, onto, files, feedback }),
    ...askAboutConflicts(state, command, task, { commit, files }),
  ];
}

/** The work of the task's holder, merged onto the present tip. It may be in the queue already. */
function handedIn(
  state: TeamState,
  command: CommandOf<'task.complete' | 'task.reject'>,
  task: TaskRecord,
  work: HandedIn,
): TeamEvent[] {
  requireTip(state, work.onto, `of task ${task.id}`);
  if (!isQueued(task, work)) return [submitted(state, command, task, work)];
  requireFresh(task, { epoch: work.epoch });
  return [];
}

function submitted(
  state: TeamState,
  command: CommandEnvelope & { readonly result?: string | undefined; readonly refused?: boolean | undefined },
  task: TaskRecord,
  { memberId, epoch, base, commit, files, added, removed, paths, pack }: Omit<HandedIn, 'onto'>,
): TeamEvent {
  const { roots } = requireWork(state);
  requireHeldBy(state, task, memberId);
  requireFresh(task, { epoch });
  if (roots && files > 0 && !pack) {
    throw new TeamError('conflict', `The work of task ${task.id} lies on one machine only: store its pack first`);
  }
  const size = { files, added, removed, paths };
  const { result } = command;
  const refused = command.refused ? true : undefined;
  const about = { taskId: task.id, epoch, memberId, base, commit };
  return event(command, 'work:submitted', { ...about, ...size, pack, result, refused });
}

export function requireTip(state: TeamState, onto: string, whose: string): void {
  const { tip, branch } = requireWork(state);
  if (onto === tip) return;
  throw new TeamError(
    'stale_revision',
    `The branch ${branch} is at ${shortId(tip)} now, not at ${shortId(onto)}: merge the work ${whose} again`,
  );
}

export function requireTroupe({ by }: CommandEnvelope): void {
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not land work: only Troupe itself may`);
}

/** Tells the lead and the holder, once and in the same step: nobody else would notice. */
function tellConflict(
  state: TeamState,
  command: CommandOf<'task.complete'>,
  task: TaskRecord,
  { memberId, epoch, commit, conflicts = [] }: HandedIn,
): TeamEvent[] {
  const readers = readersOf(state, [requireTeam(state).leadId, memberId]);
  if (readers.length === 0) return [];
  const content =
    `Task #${task.id} (${quote(task.title)}) is completed, but its work does not merge onto ${requireWork(state).branch}: ` +
    `${joinSome(conflicts, ', ')} ${conflicts.length === 1 ? 'conflicts' : 'conflict'} with work that landed before. ` +
    `Nothing is lost: commit ${shortId(commit)} has it, and troupe diff ${task.id} shows it. ` +
    'To bring it in, make a task that repeats these changes on the present files.';
  return [
    event({ ...command, by: SYSTEM }, 'message:sent', {
      copies: readers.map((toId) => ({ id: `work-${task.id}-${epoch}/${toId}`, toId })),
      messageType: 'system',
      content,
      priority: 'normal',
      metadata: { taskId: task.id },
    }),
  ];
}
