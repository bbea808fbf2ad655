import type { TeamState } from '../../core/state.ts';
import type { HandedIn } from '../../core/work.ts';
import type { WorkSaver } from '../../ledger/hand-in.ts';
import type { JudgedFolder } from '../../ledger/task-gate.ts';
import type { Preparing } from '../work/prepare.ts';
import type { Slots } from '../work/slots.ts';
import { NOT_SAVED, tellWhile } from '../work/waiting.ts';
import type { Telling } from '../work/waiting.ts';
import { makeReady } from './check-out.ts';
import type { Unready } from './check-out.ts';
import { explainConflict, landedSince } from './conflicts.ts';
import { openFollowing } from './follow.ts';
import type { Following, FollowingOptions } from './follow.ts';
import { landOnto, mergeWork, sizeOf } from './merge-work.ts';
import type { QueuedWork } from './queued.ts';

/** The workspace in which gates judge merged work. */
const LANDING = '@landing';

/** What landing needs. */
export interface LandingOptions extends FollowingOptions {
  readonly preparing: Preparing;
  readonly slots: Slots;
}

/** What the merge queue needs of git. */
export interface LandingGit {
  /** Merges a work onto a commit of the branch, in memory. */
  mergeOnto(teamId: string, work: QueuedWork, onto: string): Promise<HandedIn>;
  /** Says to the holder what conflicts with the tip: the files, whose landed work they meet, the lines, and what to do. */
  explain(teamId: string, work: HandedIn): Promise<string>;
  /** Makes merged commits available to other machines, before the journal names them. */
  publish(teamId: string, works: readonly HandedIn[]): Promise<HandedIn[]>;
  /** Whether the save of a work is gone for good, with the repository that had it. */
  isGone(teamId: string, work: QueuedWork): Promise<boolean>;
  /** Lays merged work into a folder where gates can judge it; or says why it cannot be made ready there. */
  checkOut(teamId: string, merged: string): Promise<JudgedFolder | Unready>;
  /** Whether the holder's folder is on this machine. */
  isHere(state: TeamState, memberId: string): boolean;
  /** Whether a holder's folder has just what was handed in. */
  isAsHandedIn(teamId: string, work: QueuedWork): Promise<boolean>;
}

/** The workspaces, as completions and the merge queue use them. */
export interface LandingWorks extends WorkSaver, LandingGit, Following {}

/** Brings the work of completed tasks onto the branches of their teams. */
export function openLanding(options: LandingOptions): LandingWorks {
  const { ledger, branches, elsewhere, folders, preparing, slots } = options;
  const { requirePlace, bring, travel } = branches;
  const following = openFollowing(options);

  return {
    ...following,
    save: (held) => tellWhile(ledger, held, () => elsewhere.saveOf(held), NOT_SAVED),
    async measure({ teamId, memberId }, saved) {
      const place = await requirePlace(teamId);
      const { base, commit, here = commit } = saved;
      const size = await sizeOf(place, saved);
      if (!travel || size.files === 0) return { ...saved, ...size };
      const who = { teamId, memberId };
      const send = (telling: Telling) => {
        telling.step('is being handed in');
        return travel.send(teamId, place, { memberId, base, commit: here });
      };
      const pack = await tellWhile(ledger, who, send, 'cannot be handed in');
      return { ...saved, ...size, pack };
    },
    merge: async (held, saved, result) =>
      mergeWork({ ledger, travel, place: await bring(held.teamId) }, held, { ...saved, result }),

    async mergeOnto(teamId, queued, onto) {
      const { taskId, memberId, epoch, base, commit, files, added, removed, paths, result } = queued;
      const place = await bring(teamId);
      const work = travel ? await travel.bringWork(teamId, place, commit) : commit;
      const outcome = await landOnto(
        { ledger, place },
        { teamId, taskId, memberId, result },
        { tip: onto, base, work },
      );
      return { memberId, epoch, base, commit, files, added, removed, paths, onto, ...outcome };
    },
    async explain(teamId, work) {
      const { depot, work: standing } = await requirePlace(teamId);
      const landed = await landedSince({ ledger, depot }, teamId, work);
      const here = travel ? await travel.bringWork(teamId, await bring(teamId), work.commit) : work.commit;
      return explainConflict(depot, { work: { ...work, commit: here }, landed, branch: standing.branch });
    },
    async publish(teamId, works) {
      if (!travel) return [...works];
      const place = await requirePlace(teamId);
      const published: HandedIn[] = [];
      for (const work of works) {
        const { onto, merged = onto } = work;
        // Work that adds nothing to the tip lands as the tip, which every machine gets anyway.
        if (merged === onto) published.push(work);
        else published.push({ ...work, mergedPack: await travel.sendMerged(teamId, place, { onto, merged }) });
      }
      return published;
    },
    async isGone(teamId, { commit }) {
      // A pack may come back with the machine that has it.
      if (travel) return false;
      const { depot } = await requirePlace(teamId);
      return (await depot.has([commit])).length === 0;
    },
    async checkOut(teamId, merged) {
      const landing = { teamId, memberId: LANDING };
      const workspace = await folders.workspaceOf(landing);
      // Nobody works there: what is in the way was made by the setup or a gate. The queue would wait for a person for ever.
      let isCleared = false;
      await workspace.refresh(merged, { onInTheWay: () => void (isCleared = true) });
      const place = await requirePlace(teamId);
      const ready = await makeReady(preparing, { ...landing, place, workspace, slot: slots.of(teamId, LANDING) });
      // If this does not land, the setup has to make again what was moved.
      if (isCleared) await workspace.forgetSetup();
      return ready;
    },
    isHere: elsewhere.isHere,
    async isAsHandedIn(teamId, { memberId, commit }) {
      const saved = await (await folders.workspaceOf({ teamId, memberId })).save();
      return saved?.commit === commit;
    },
  };
}
