import type { Ledger } from '../../ledger/ledger.ts';
import type { WorkLander } from '../../ledger/work-lander.ts';
import { openQueue } from '../../workspaces/queue.ts';
import type { Branches } from './branches.ts';
import { makeReady } from './check-out.ts';
import { explainConflict, landedSince } from './conflicts.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Folders } from './folders.ts';
import { mergeWork } from './merge-work.ts';
import type { Preparing } from './prepare.ts';
import type { Slots } from './slots.ts';

/** The workspace in which gates judge merged work. */
const LANDING = '@landing';

/** What landing needs. */
export interface LandingOptions {
  readonly ledger: Ledger;
  readonly branches: Branches;
  readonly elsewhere: Elsewhere;
  readonly folders: Folders;
  readonly preparing: Preparing;
  readonly slots: Slots;
  readonly onError: (error: unknown, about: { teamId: string; memberId: string }) => void;
}

/** Brings the work of completed tasks onto the branches of their teams. */
export function openLanding(options: LandingOptions): WorkLander {
  const { ledger, branches, elsewhere, folders, preparing, slots, onError } = options;
  const { requirePlace, bring, align, travel } = branches;
  const turns = new Map<string, ReturnType<typeof openQueue>>();

  return {
    save: (held) => elsewhere.saveOf(held),
    merge: async (held, saved, result) =>
      mergeWork({ ledger, travel, place: await bring(held.teamId) }, held, { ...saved, result }),
    async explain({ teamId }, work) {
      const { depot, work: standing } = await requirePlace(teamId);
      const landed = await ledger.view(teamId, (state) => landedSince(state, work.base));
      return explainConflict(depot, { work, landed, branch: standing.branch });
    },
    inTurn(teamId, land) {
      const turn = turns.get(teamId) ?? openQueue();
      turns.set(teamId, turn);
      return turn(land);
    },
    async checkOut({ teamId }, merged) {
      const landing = { teamId, memberId: LANDING };
      const workspace = await folders.workspaceOf(landing);
      await workspace.refresh(merged);
      const place = await requirePlace(teamId);
      return makeReady(preparing, { ...landing, place, workspace, slot: slots.of(teamId, LANDING) });
    },
    async landed(held, { commit }) {
      const { teamId, memberId } = held;
      try {
        await align(teamId);
        // Another machine brings its own workspaces forward, with their next task.
        if (await isHere(held)) await folders.bringForward(held, commit);
      } catch (error) {
        // The journal has it. The next start, or the next task, does the rest.
        onError(error, { teamId, memberId });
      }
    },
    async sentBack(held, { onto: base, merged }) {
      const { teamId, memberId, taskId, epoch } = held;
      try {
        if (!(await isHere(held))) return;
        await folders.layMerged(held, base);
        // Without a conflict, it simply goes on from the tip.
        const begin = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base } as const;
        if (merged !== undefined) await ledger.execute(teamId, begin, () => undefined);
      } catch (error) {
        // Its folder stays as it is. If it hands in the same again, the same is laid again.
        onError(error, { teamId, memberId });
      }
    },
  };

  function isHere({ teamId, memberId }: { readonly teamId: string; readonly memberId: string }): Promise<boolean> {
    return ledger.view(teamId, (state) => elsewhere.isHere(state, memberId));
  }
}
