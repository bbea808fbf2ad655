import { SYSTEM } from '../../core/actor.ts';
import type { TeamEvent } from '../../core/event.ts';
import { isInFolderOf } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import type { TaskWork } from '../../core/work.ts';
import type { WorkSaver } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Branches } from '../work/branches.ts';
import type { Elsewhere } from '../work/elsewhere.ts';
import type { Folders } from '../work/folders.ts';
import type { Worker } from '../work/held.ts';

/** What following needs. */
export interface FollowingOptions {
  readonly ledger: Ledger;
  readonly branches: Branches;
  readonly elsewhere: Elsewhere;
  readonly folders: Folders;
  readonly onError: (error: unknown, about: { teamId: string; memberId?: string }) => void;
}

/** Lets the branch and the folders of this machine follow the journal. */
export interface Following extends Pick<WorkSaver, 'settled'> {
  /** Begins; returns a function that stops it. */
  follow(): () => void;
}

/**
 * The journal says what landed and what went back; git's ref and the folders of this machine follow it. After a crash in
 * between, the start brings the ref along, and the next hand-in or the next task the folder.
 */
export function openFollowing(options: FollowingOptions): Following {
  const { ledger, branches, elsewhere, folders, onError } = options;
  /** What is being brought along, by team and task: a holder must not go on in its folder meanwhile. */
  const unsettled = new Map<string, Promise<void>>();

  return {
    settled: async ({ teamId, taskId }) => unsettled.get(keyOf(teamId, taskId)),
    follow: () =>
      ledger.subscribe((teamId, { events }, state) => {
        if (!state.team?.work) return;
        if (events.some(({ type }) => type === 'tip:moved') && branches.isOpened(teamId)) {
          void branches.align(teamId).catch((error: unknown) => onError(error, { teamId }));
        }
        for (const event of events) {
          const step = stepAfter(event, events, state);
          if (step) begin(teamId, step);
        }
      }),
  };

  function begin(teamId: string, step: Step): void {
    const key = keyOf(teamId, step.taskId);
    const { memberId } = step.work;
    const done = (unsettled.get(key) ?? Promise.resolve())
      .then(() => (step.kind === 'landed' ? bringForward(teamId, step) : layBoth(teamId, step)))
      .catch((error: unknown) => onError(error, { teamId, memberId }))
      .finally(() => {
        if (unsettled.get(key) === done) unsettled.delete(key);
      });
    unsettled.set(key, done);
  }

  async function bringForward(teamId: string, step: Step): Promise<void> {
    const { isHeldHere } = step;
    // A team of other machines needs no branch here.
    if (!isHeldHere && !branches.isOpened(teamId)) return;
    await branches.align(teamId);
    // Another machine brings its own workspaces forward, with their next task.
    if (isHeldHere) await unlessOnward(teamId, step, (worker) => folders.bringForward(worker, step.work.commit));
  }

  /** Its holder may go on with another task meanwhile, as after its process was killed: then the folder is that one's. */
  async function unlessOnward(
    teamId: string,
    { taskId, work: { memberId, epoch }, others }: Step,
    move: (worker: Worker) => Promise<void>,
  ): Promise<void> {
    const worker = { teamId, memberId };
    await folders.alone(worker, async () => {
      const isOnward = await ledger.view(teamId, (state) => {
        const task = state.tasks.get(taskId);
        const isIts = task?.assigneeId === memberId && task.epoch === epoch && task.work?.aside === undefined;
        return !isIts || othersIn(state, memberId, taskId).some((id) => !others.includes(id));
      });
      if (!isOnward) await move(worker);
    });
  }

  /** The holder brings the tip and its work together. If this fails, and it hands in the same, the same is laid again. */
  async function layBoth(teamId: string, step: Step): Promise<void> {
    const { taskId, work, onto, isHeldHere } = step;
    if (!isHeldHere) return;
    const { memberId, epoch } = work;
    await branches.bring(teamId);
    await unlessOnward(teamId, step, async (worker) => {
      await folders.layMerged(worker, onto);
      // Without a conflict, it simply goes on from the tip.
      const begun = { type: 'work.begin', by: SYSTEM, taskId, memberId, epoch, base: onto } as const;
      if (work.state !== 'conflicted') await ledger.execute(teamId, begun, () => undefined);
    });
  }

  function stepAfter(event: TeamEvent, events: readonly TeamEvent[], state: TeamState): Step | undefined {
    // Most events are about something else.
    if (event.type !== 'work:landed' && event.type !== 'work:conflicted' && event.type !== 'task:rejected') {
      return undefined;
    }
    const { taskId } = event;
    const task = state.tasks.get(taskId);
    if (!task?.work) return undefined;
    const { work, assigneeId, epoch } = task;
    const others = othersIn(state, work.memberId, taskId);
    // A holder that stopped, or put it aside, may be at another task in the same folder by now.
    const isHeld = assigneeId === work.memberId && epoch === work.epoch && !work.left && work.aside === undefined;
    const isHeldHere = isHeld && elsewhere.isHere(state, work.memberId);
    if (event.type === 'work:landed') return { kind: 'landed', taskId, work, onto: event.onto, isHeldHere, others };
    if (event.type === 'work:conflicted') {
      return event.feedback === undefined
        ? undefined
        : { kind: 'sent-back', taskId, work, onto: event.onto, isHeldHere, others };
    }
    const ended = events.find((other) => other.type === 'landing:ended');
    const onto = state.team?.work?.tip ?? '';
    // Judged alone, its folder has just what was judged.
    return ended && work.base !== onto ? { kind: 'sent-back', taskId, work, onto, isHeldHere, others } : undefined;
  }
}

/** Something that a folder or a branch has to follow. */
interface Step {
  readonly kind: 'landed' | 'sent-back';
  readonly taskId: string;
  readonly work: TaskWork;
  readonly onto: string;
  readonly isHeldHere: boolean;
  /** The other tasks whose work was in the folder, too. */
  readonly others: readonly string[];
}

function othersIn({ tasks }: TeamState, memberId: string, taskId: string): string[] {
  return [...tasks.values()].flatMap((task) => (task.id !== taskId && isInFolderOf(task, memberId) ? task.id : []));
}

function keyOf(teamId: string, taskId: string): string {
  return `${teamId}/${taskId}`;
}
