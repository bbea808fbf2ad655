import type { TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openQueues } from '../../workspaces/queue.ts';
import { findAhead, followMove, takeTip } from './move-tip.ts';
import type { Taken, TakenTip } from './move-tip.ts';
import type { Projects } from './project.ts';
import { openTeamPlaces } from './team-places.ts';
import type { TeamPlace } from './team-places.ts';
import { openTravel } from './travel.ts';
import type { TravelOptions } from './travel.ts';

/** How a daemon works with others that share its journal. */
export type Several = Pick<TravelOptions, 'store' | 'others' | 'hostId'>;

/** What `openBranches` needs. */
export interface BranchesOptions {
  readonly ledger: Ledger;
  readonly projects: Projects;
  readonly several: Several | undefined;
}

/** The branches of all teams, as this machine has them. The journal says where each one is; git's refs follow it. */
export function openBranches({ ledger, projects, several }: BranchesOptions) {
  const { placeOf, requirePlace, isOpened, recognise, forget } = openTeamPlaces(ledger, projects);
  const travel = several && openTravel({ ledger, placeOf, ...several });
  const inTurn = openQueues();

  return {
    lookAhead,
    placeOf,
    requirePlace,
    recognise,
    forget,
    travel,
    bring,
    align,
    take,

    isOpened,

    /** Whether a team needs its branch here. Another machine's team may be of a project that is not on this one. */
    isNear({ members }: TeamState): boolean {
      return !several || [...members.values()].some(({ hostId }) => hostId === several.hostId);
    },
  };

  /** Takes in what other machines did, up to the tip. */
  async function bring(teamId: string): Promise<TeamPlace> {
    const place = await requirePlace(teamId);
    try {
      await travel?.bring(teamId, place);
    } catch (error) {
      // The next call looks for a checkout again: a person may name one.
      forget(teamId);
      throw error;
    }
    return place;
  }

  function align(teamId: string): Promise<void> {
    return inTurn(teamId, () => alignNow(teamId));
  }

  async function alignNow(teamId: string): Promise<void> {
    const place = await bring(teamId);
    const { depot, work } = place;
    const [now, placed] = [await depot.branch(work.branch), await depot.placed(work.branch)];
    if (now === work.tip && placed === now) return;
    const isMoved = now !== undefined && placed !== undefined && now !== placed && now !== work.tip;
    if (isMoved) await followMove({ ledger, travel }, teamId, place, now);
    const tip = await ledger.view(teamId, ({ team }) => team?.work?.tip ?? work.tip);
    // Another machine may have landed work since.
    if (tip !== work.tip && tip !== now) await bring(teamId);
    await depot.moveBranch(work.branch, tip, now);
  }

  /** Takes commits of a person into the branch. */
  async function take(teamId: string, taken: Taken): Promise<TakenTip> {
    await align(teamId);
    const outcome = await takeTip({ ledger, travel }, teamId, { place: await bring(teamId), ...taken });
    await align(teamId);
    return outcome;
  }

  /** What the checkout has and the branch of the team lacks, so that its members do not see it. */
  async function lookAhead(teamId: string): Promise<TakenTip['ahead']> {
    const place = await bring(teamId);
    if (place.checkout.isAbsent) return undefined;
    await place.depot.take(place.checkout);
    return findAhead(place);
  }
}

export type Branches = ReturnType<typeof openBranches>;
