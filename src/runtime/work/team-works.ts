import { folderInWorkspace } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import type { TeamWork } from '../../core/team-work.ts';
import type { SavedWork } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Approvals } from '../hooks/approvals.ts';
import { openLanding } from '../landing/landing.ts';
import type { LandingWorks } from '../landing/landing.ts';
import { openBranches } from './branches.ts';
import type { Several } from './branches.ts';
import { openCleanUp } from './clean-up.ts';
import type { CleanUp } from './clean-up.ts';
import { openDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { openElsewhere } from './elsewhere.ts';
import { openFolders } from './folders.ts';
import type { Folders } from './folders.ts';
import { holders, isOpen } from './held.ts';
import type { SavedFor, Worker } from './held.ts';
import type { Taken, TakenTip } from './move-tip.ts';
import { openOverlaps } from './overlaps.ts';
import { openPreparing } from './prepare.ts';
import type { Preparing } from './prepare.ts';
import type { Projects } from './project.ts';
import { removeWorks } from './remove-works.ts';
import { openWorkSettings } from './settings.ts';
import type { WorkSettings } from './settings.ts';
import type { Setups } from './setup.ts';
import { openSlots } from './slots.ts';
import type { TeamPlace } from './team-places.ts';

/** What `openTeamWorks` needs. */
export interface TeamWorksOptions {
  readonly ledger: Ledger;
  readonly projects: Projects;
  /** If several machines share the journal: how work gets from one to the other. */
  readonly several?: Several;
  /** The settings of agents that a person agreed to. */
  readonly approvals?: Approvals;
  /** Milliseconds between two saves of a member that works. */
  readonly saveEvery?: number;
  /** Milliseconds between two looks at what remotes no longer need. */
  readonly sweepEvery?: number;
  /** Runs the setups of workspaces; without it, none runs. */
  readonly setups?: Setups;
  readonly onError: (error: unknown, about: { teamId?: string; memberId?: string }) => void;
}

/** The workspaces of all teams of this daemon, and their branches. */
export interface TeamWorks
  extends
    Omit<LandingWorks, 'follow'>,
    Pick<Folders, 'open' | 'begin' | 'beginInTurn' | 'saveNow' | 'workspaceOf' | 'alone'> {
  readonly projects: Projects;
  /** The settings of agents in workspaces. */
  readonly settings: WorkSettings;
  /** What workspaces left behind. */
  readonly leftovers: CleanUp;
  /** What workspaces take on the disk. */
  readonly disk: Disk;
  /** Brings the branches of all teams to what the journal says, and begins to save. */
  start(): Promise<void>;
  /** Brings the branch of a team to what the journal says. */
  align(teamId: string): Promise<void>;
  /** Takes commits of a person into the branch of a team. */
  take(teamId: string, taken: Taken): Promise<TakenTip>;
  /** What the checkout has and the branch of the team lacks. */
  lookAhead(teamId: string): Promise<TakenTip['ahead']>;
  /** Where a member works; undefined if it has no workspace of its own. No folder is made. */
  folderOf(state: TeamState, memberId: string): string | undefined;
  /** The project of a team; undefined if its members share a folder. */
  placeOf(teamId: string): Promise<TeamPlace | undefined>;
  /** The top folder around a folder, if the team's checkout was moved there; the team goes on with it. */
  recognise(teamId: string, folder: string): Promise<string | undefined>;
  /** Takes in what other machines did, up to the tip of the team's branch. */
  bring(teamId: string): Promise<TeamPlace>;
  /** The commit of a work that was handed in, as this machine has it. */
  commitOf(teamId: string, commit: string): Promise<string>;
  /** Answers a question of another daemon; undefined if it is not about work. */
  answer(question: unknown): Promise<unknown> | undefined;
  /** Saves what a member has in its workspace, or for a task, also on another machine. */
  saveOf(worker: SavedFor): Promise<SavedWork>;
  /** Whether a member's workspace is on this machine. */
  isHere(state: TeamState, memberId: string): boolean;
  /** Whether a team has members on this machine. */
  isNear(state: TeamState): boolean;
  /** Whether another daemon that shares the journal is alive. */
  isAlive(hostId: string): boolean;
  /** The git remote by which the work of a team travels, and why it cannot be used as it should. */
  remoteOf(teamId: string, work: TeamWork): { readonly name: string; readonly problem?: string } | undefined;
  /** The number of a workspace. */
  slotOf(worker: Worker): number;
  /** The last run of the setup in a workspace; undefined if there was none. */
  setupOf: Preparing['lastRun'];
  /** Puts away all workspaces of a team: work that is not on the branch is kept by refs, folders go to the trash. */
  remove(teamId: string): Promise<void>;
  /** Saves no more, and ends setups that run. */
  close(): Promise<void>;
}

const SAVE_EVERY_MS = 30_000;

const SWEEP_EVERY_MS = 60 * 60_000;

/** Opens the workspaces of all teams. Nothing is opened on disk before it is needed. */
export function openTeamWorks(options: TeamWorksOptions): TeamWorks {
  const {
    ledger,
    projects,
    several,
    saveEvery = SAVE_EVERY_MS,
    sweepEvery = SWEEP_EVERY_MS,
    setups,
    onError,
  } = options;
  const leftovers = openCleanUp({ ledger, projects }, (error) => onError(error, {}));
  const disk = openDisk({ ledger, projects }, onError);
  const slots = openSlots(projects.places.workspaces);
  const branches = openBranches({ ledger, projects, several });
  const { placeOf, requirePlace, bring, align, travel } = branches;
  const elsewhere = openElsewhere({ ledger, several, branches, saveHere: (worker) => folders.saveHere(worker) });
  const settings = openWorkSettings({ ledger, requirePlace, approvals: options.approvals });
  const preparing = openPreparing({ ledger, setups, indexes: projects.places.indexes, onError });
  /** Resolves when what an earlier daemon left has been ended. */
  const started = Promise.withResolvers<void>();
  const common = { ledger, branches, elsewhere, preparing, slots, onError };
  const overlaps = openOverlaps({ ledger, placeOf, isHere: elsewhere.isHere, onError });
  const folders: Folders = openFolders({ ...common, disk, settings, overlaps, started: started.promise });
  const landing = openLanding({ ...common, folders });
  const timers: NodeJS.Timeout[] = [];
  let isSweeping = false;
  let stopFollowing = (): void => {};

  return {
    ...folders,
    ...landing,
    projects,
    settings,
    leftovers,
    disk,
    async start() {
      const found = await ledger.viewAll(
        (state) => (isOpen(state) && branches.isNear(state) ? [{ teamId: state.teamId, members: holders(state) }] : []),
        { unreadable: () => [] },
      );
      stopFollowing = landing.follow();
      for (const { teamId, members } of found.flat()) {
        for (const memberId of members) folders.remember({ teamId, memberId });
        // Members need not wait for it: what they begin from is in the journal.
        void align(teamId).catch((error: unknown) => onError(error, { teamId }));
      }
      timers.push(setInterval(() => void folders.saveAll(), saveEvery));
      if (travel) timers.push(setInterval(() => void sweepRemotes(), sweepEvery));
      for (const timer of timers) timer.unref();
      leftovers.start();
      disk.start(() => folders.workers().map(({ teamId }) => teamId));
      started.resolve();
    },
    align,
    take: branches.take,
    lookAhead: branches.lookAhead,
    folderOf({ team, teamId, members }, memberId) {
      if (!team?.work || members.get(memberId)?.workspace !== 'own') return undefined;
      return folderInWorkspace(`${projects.places.workspaces}/${teamId}/${memberId}`, team.work);
    },
    placeOf,
    recognise: branches.recognise,
    bring,
    async commitOf(teamId, commit) {
      return travel ? travel.bringWork(teamId, await requirePlace(teamId), commit) : commit;
    },
    answer: (question) => elsewhere.answer(question),
    saveOf: (worker) => elsewhere.saveOf(worker),
    isHere: elsewhere.isHere,
    isNear: (state) => branches.isNear(state),
    isAlive: (hostId) => several?.others.names().includes(hostId) ?? false,
    remoteOf(teamId, { remote, roots }) {
      // Without other machines, nothing travels.
      if (!travel || !remote || !roots) return undefined;
      const problem = travel.problemOf(teamId);
      return { name: remote.name, ...(problem !== undefined && { problem }) };
    },
    slotOf: ({ teamId, memberId }) => slots.of(teamId, memberId),
    setupOf: (worker) => preparing.lastRun(worker),

    async remove(teamId) {
      const place = await placeOf(teamId).catch((error: unknown) => {
        // Its repository is gone. That must not keep the team; its folders stay where they are.
        onError(error, { teamId });
        return undefined;
      });
      if (!place) return;
      folders.forget(teamId);
      overlaps.forget(teamId);
      disk.forget(teamId);
      await removeWorks(ledger, teamId, place);
      branches.forget(teamId);
      slots.free(teamId);
      await travel?.forget(teamId).catch((error: unknown) => onError(error, { teamId }));
      // The team need not wait for a server.
      void travel?.leaveRemote(teamId, place).catch((error: unknown) => onError(error, { teamId }));
    },
    async close() {
      stopFollowing();
      for (const timer of timers) clearInterval(timer);
      leftovers.close();
      disk.close();
      await overlaps.close();
      await preparing.close();
    },
  };

  async function sweepRemotes(): Promise<void> {
    if (isSweeping) return;
    isSweeping = true;
    try {
      const near = await ledger.viewAll(
        (state) => (state.team?.work?.remote && branches.isNear(state) ? [state.teamId] : []),
        { unreadable: () => [] },
      );
      for (const teamId of near.flat()) {
        await travel?.sweep(teamId).catch((error: unknown) => onError(error, { teamId }));
      }
    } catch (error) {
      // The journal is away. The next round looks again.
      onError(error, {});
    } finally {
      isSweeping = false;
    }
  }
}
