import type { StandingWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import {
  expireLeftovers,
  hasBranches,
  listLeftovers,
  markMerged,
  removeLeftovers,
  unmark,
} from '../../workspaces/leftovers.ts';
import type { Leftover } from '../../workspaces/leftovers.ts';
import { openQueue } from '../../workspaces/queue.ts';
import type { Project, Projects } from './project.ts';

/** Removes what workspaces left behind when it has had its time, and at a person's word. */
export interface CleanUp {
  /** Lists what was left behind, oldest first. */
  list(): Promise<Leftover[]>;
  /** Removes some of it for good, by id; `trash` names all folders in the trash. */
  remove(ids: readonly string[]): Promise<Leftover[]>;
  /** Removes what has had its time. */
  sweep(now?: number): Promise<void>;
  /** Sweeps from time to time. */
  start(): void;
  /** A pass that is under way does no further step. */
  close(): void;
}

/** Nothing that it removes is urgent. The first pass waits, so that a daemon is ready first. */
const FIRST_MS = 60_000;
const EVERY_MS = 6 * 60 * 60_000;

/** Objects are written before a ref leads to them. */
const UNUSED_MS = 24 * 60 * 60_000;

/** Makes the clean-up of all workspaces of this daemon. */
export function openCleanUp(
  { ledger, projects }: { ledger: Ledger; projects: Projects },
  onError: (error: unknown) => void,
): CleanUp {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const alone = openQueue();
  /** After the end the ledger is closed, too: what a pass finds then is no trouble. */
  const tell = (error: unknown): void => {
    if (!isClosed) onError(error);
  };

  return {
    async list() {
      // People merge and reset at any time. On a full disk they want to see what they can remove, so that must not fail.
      const isSure = await lookForMerges(Date.now()).then(
        () => true,
        (error: unknown) => (tell(error), false),
      );
      const left = await listLeftovers(await where());
      return isSure ? left : left.map(countAsUnmerged);
    },
    remove: async (ids) => removeLeftovers(await where(), ids),
    sweep,
    start() {
      wait(FIRST_MS);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };

  async function where() {
    return { places: projects.places, depots: await projects.depots() };
  }

  function wait(ms: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      sweep()
        .catch(tell)
        .finally(() => wait(EVERY_MS));
    }, ms);
    timer.unref();
  }

  async function sweep(now = Date.now()): Promise<void> {
    const steps = [
      putAwayGone,
      () => lookForMerges(now),
      async () => expireLeftovers(await where(), now),
      () => projects.tidy(now - UNUSED_MS),
    ];
    // A folder that cannot be removed is no reason to pack no depot.
    const failed: unknown[] = [];
    for (const step of steps) if (!isClosed) await step().catch((error: unknown) => void failed.push(error));
    if (failed.length > 0) throw failed[0];
  }

  /** Another machine may have deleted a team, or a daemon was killed while it did. */
  async function putAwayGone(): Promise<void> {
    for (const team of await projects.teams()) {
      if (isClosed) return;
      try {
        if (await ledger.view(team, (state) => state.team === undefined)) await projects.putAway(team);
      } catch (error) {
        // Trouble with one team must not keep the others.
        tell(error);
      }
    }
  }

  /** Opens a project if this machine has it. */
  async function openProject(
    repository: string,
    [first]: readonly { readonly team: string; readonly work: StandingWork }[],
  ): Promise<Project | undefined> {
    const { team = '', work } = first ?? {};
    const sought = { team, repository, base: work?.base ?? '', roots: work?.roots };
    return !work?.roots || (await projects.has(sought)) ? projects.find(sought) : undefined;
  }

  /** One look at a time: two at once would remove the same marks. */
  function lookForMerges(now: number): Promise<void> {
    return alone(() => lookNow(now));
  }

  /** People merge with their own git, so nobody tells. Opening a project takes in what is new in its checkout. */
  async function lookNow(now: number): Promise<void> {
    const teams = await ledger.viewAll(
      ({ teamId, team }) => (team?.work && team.work.tip !== team.work.base ? [{ team: teamId, work: team.work }] : []),
      { unreadable: () => [] },
    );
    const byProject = Map.groupBy(teams.flat(), ({ work }) => work.repository);
    const seen = new Set<string>();
    for (const [repository, found] of byProject) {
      const project = await openProject(repository, found).catch(tell);
      if (project?.kind !== 'clone') continue;
      const { handle, dir } = project.depot;
      seen.add(dir);
      const branches = found.map(({ team, work }) => ({ team, commit: work.tip }));
      await (project.checkout.isAbsent ? unmark(handle) : markMerged(handle, branches, now));
    }
    for (const handle of await projects.depots()) {
      if (seen.has(handle.dir) || !(await hasBranches(handle))) continue;
      const isThere = await projects.takeIn(handle).catch(tell);
      await (isThere ? markMerged(handle, [], now) : unmark(handle));
    }
  }
}

/** Without a look, only a folder in the trash has a time to go. */
function countAsUnmerged({ goesAt, ...left }: Leftover): Leftover {
  return left.kind === 'trash' && goesAt !== undefined ? { ...left, goesAt } : left;
}
