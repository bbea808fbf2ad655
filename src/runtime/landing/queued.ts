import { SYSTEM } from '../../core/actor.ts';
import type { Actor } from '../../core/actor.ts';
import { approverOf } from '../../core/approval.ts';
import type { CommandOf } from '../../core/command.ts';
import { describeRefusal } from '../../core/refusal.ts';
import type { TeamState } from '../../core/state.ts';
import type { HandedIn, SubmitWorkInput } from '../../core/work.ts';
import type { NewCommand } from '../../ledger/ledger.ts';

/** A work in the merge queue. */
export interface QueuedWork extends Omit<SubmitWorkInput, 'pack' | 'result' | 'refused'> {
  readonly result: string | undefined;
  /** Who completes the task. */
  readonly completer: Actor;
  /** Its model refused: it lands only if a gate accepts it. */
  readonly refused: boolean;
  /** Its holder has stopped since. */
  readonly left: boolean;
  /** Somebody has to approve it before it lands. */
  readonly needsApproval: boolean;
}

/** The works that wait to land, in their order. */
export function queueOf(state: TeamState): QueuedWork[] {
  return (state.team?.work?.queue ?? []).flatMap((taskId) => {
    const task = state.tasks.get(taskId);
    const { work } = task ?? {};
    if (!task || work?.state !== 'submitted') return [];
    const { memberId, epoch, base, commit = '', files = 0, added = 0, removed = 0, paths = [] } = work;
    const { completer = SYSTEM, result, refused = false, left = false } = work;
    const size = { files, added, removed, paths };
    const needsApproval = approverOf(state, task) !== undefined;
    return { taskId, memberId, epoch, base, commit, ...size, result, refused, completer, left, needsApproval };
  });
}

/** Names a work as it was handed in: a verdict about it does not hold for another. */
export function nameOfWork({ taskId, epoch, commit }: Pick<QueuedWork, 'taskId' | 'epoch' | 'commit'>): string {
  return `${taskId}/${epoch}/${commit}`;
}

type About = Pick<CommandOf<'task.reject'>, 'gate' | 'unable' | 'unapproved' | 'refused' | 'work'>;

/** Sends a work back to its holder. The verdict is about this commit alone. */
export function rejectionOf(
  { taskId, epoch, commit, result }: QueuedWork,
  about: { readonly feedback: string } & About,
): NewCommand {
  return { type: 'task.reject', by: SYSTEM, taskId, epoch, commit, result, ...about };
}

/** The same because of a gate. If the model refused, a person is asked instead, also if no gate judged it. */
export function notAccepted(
  work: QueuedWork,
  { feedback, ...about }: { readonly feedback?: string } & About,
): NewCommand {
  if (!work.refused) return rejectionOf(work, { feedback: feedback ?? '', ...about });
  return rejectionOf(work, { feedback: describeRefusal(work.result, feedback), refused: true, ...about });
}

/** What follows for a work that the gates let pass: it lands, or waits for its approval outside the queue. */
export function endOf(
  { taskId, completer, result, epoch, needsApproval }: QueuedWork,
  work: HandedIn & { readonly landingId: string },
  { accepted }: { readonly accepted: boolean },
): NewCommand {
  const { commit, landingId, onto, merged = onto, mergedPack } = work;
  if (!needsApproval) {
    const done = { taskId, epoch, work, accepted, ...(result !== undefined && { result }) };
    return { type: 'task.complete', by: completer, ...done };
  }
  const judged = { landingId, onto, merged, accepted, ...(mergedPack && { mergedPack }) };
  return { type: 'work.ask', by: SYSTEM, taskId, epoch, commit, ...judged };
}
