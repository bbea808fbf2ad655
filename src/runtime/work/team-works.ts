import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { requireTask } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { SavedWork, WorkLander } from '../../ledger/work-lander.ts';
import { savesRef } from '../../workspaces/depot/saves.ts';
import { openQueue } from '../../workspaces/queue.ts';
import type { Workspace } from '../../workspaces/workspace.ts';
import type { Approvals } from '../hooks/approvals.ts';
import { openBranches } from './branches.ts';
import type { Several } from './branches.ts';
import { makeReady } from './check-out.ts';
import { openCleanUp } from './clean-up.ts';
import type { CleanUp } from './clean-up.ts';
import { explainConflict, landedSince } from './conflicts.ts';
import { openDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { openElsewhere } from './elsewhere.ts';
import { claimOf, holders, isOpen, worksApart } from './held.ts';
import { mergeWork } from './merge-work.ts';
import { openPreparing } from './prepare.ts';
import type { Preparing } from './prepare.ts';
import { problemsOf, wordProblems } from './problems.ts';
import type { Projects } from './project.ts';
import { removeWorks } from './remove-works.ts';
import { openWorkSettings } from './settings.ts';
import type { WorkSettings } from './settings.ts';
import type { Setups } from './setup.ts';
import { openSlots } from './slots.ts';
import type { TeamPlace } from './team-places.ts';
import { tellWhile } from './waiting.ts';
import type { Telling } from './waiting.ts';

/** A member with a workspace of its own. */
export interface Worker {
  readonly teamId: string;
  readonly memberId: string;
}

/** The workspace of a member, as its process uses it. */
export interface OpenedWork {
  /** The team's folder in the workspace. */
  readonly folder: string;
  readonly slot: number;
}

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
  /** Runs the setups of workspaces; without it, none runs. */
  readonly setups?: Setups;
  readonly onError: (error: unknown, about: { teamId?: string; memberId?: string }) => void;
}

/** The workspaces of all teams of this daemon, and their branches. */
export interface TeamWorks extends WorkLander {
  readonly projects: Projects;
  /** The settings of agents in workspaces. */
  readonly settings: WorkSettings;
  /** What workspaces left behind. */
  readonly leftovers: CleanUp;
  /** What workspaces take on the disk. */
  readonly disk: Disk;
  /** Brings the branches of all teams to what the journal says, and begins to save. */
  start(): Promise<void>;
  /** Opens a member's workspace, ready to work in; undefined if it has none of its own. */
  open(worker: Worker): Promise<OpenedWork | undefined>;
  /** Prepares the workspace for a task that the member has just claimed, and records that. */
  begin(worker: Worker, task: { readonly taskId: string; readonly epoch: number }): Promise<void>;
  /** The same for a task that was claimed during a turn: what the member changed stays in its folder. */
  beginInTurn(worker: Worker, task: { readonly taskId: string; readonly epoch: number }): Promise<void>;
  /** Saves the workspace of a member. An unchanged one of a member without a task is brought to the tip. */
  saveNow(worker: Worker): Promise<void>;
  /** Brings the branch of a team to what the journal says. */
  align(teamId: string): Promise<void>;
  /** Where a member works; undefined if it has no workspace of its own. No folder is made. */
  folderOf(state: TeamState, memberId: string): string | undefined;
  /** The project of a team; undefined if its members share a folder. */
  placeOf(teamId: string): Promise<TeamPlace | undefined>;
  /** Takes in what other machines did, up to the tip of the team's branch. */
  bring(teamId: string): Promise<TeamPlace>;
  /** The commit of a work that was handed in, as this machine has it. */
  commitOf(teamId: string, commit: string): Promise<string>;
  /** Answers a question of another daemon; undefined if it is not about work. */
  answer(question: unknown): Promise<unknown> | undefined;
  /** Saves what a member has in its workspace, also on another machine. */
  saveOf(worker: Worker): Promise<SavedWork>;
  /** Whether a member's workspace is on this machine. */
  isHere(state: TeamState, memberId: string): boolean;
  /** The open workspace of a member. */
  workspaceOf(worker: Worker): Promise<Workspace>;
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

/** The workspace in which gates judge merged work. */
const LANDING = '@landing';

/** Opens the workspaces of all teams. Nothing is opened on disk before it is needed. */
export function openTeamWorks(options: TeamWorksOptions): TeamWorks {
  const { ledger, projects, several, saveEvery = SAVE_EVERY_MS, setups, onError } = options;
  const leftovers = openCleanUp({ ledger, projects }, (error) => onError(error, {}));
  const disk = openDisk({ ledger, projects }, onError);
  const slots = openSlots(projects.places.workspaces);
  const branches = openBranches({ ledger, projects, several, onError });
  const { placeOf, requirePlace, bring, align, travel } = branches;
  const elsewhere = openElsewhere({ ledger, several, branches, saveHere });
  const settings = openWorkSettings({ ledger, requirePlace, approvals: options.approvals });
  const preparing = openPreparing({ ledger, setups, indexes: projects.places.indexes, onError });
  /** Resolves when what an earlier daemon left has been ended. */
  const started = Promise.withResolvers<void>();
  /** One landing of a team after the other. */
  const landings = new Map<string, ReturnType<typeof openQueue>>();
  /** Members that this daemon has opened a workspace for. */
  const workers = new Map<string, Worker>();
  let timer: NodeJS.Timeout | undefined;
  let stopFollowing = (): void => {};

  return {
    projects,
    settings,
    leftovers,
    disk,
    async start() {
      const found = await ledger.viewAll(
        (state) => (isOpen(state) && branches.isNear(state) ? [{ teamId: state.teamId, members: holders(state) }] : []),
        { unreadable: () => [] },
      );
      if (several) stopFollowing = branches.follow();
      for (const { teamId, members } of found.flat()) {
        for (const memberId of members) workers.set(keyOf({ teamId, memberId }), { teamId, memberId });
        // Members need not wait for it: what they begin from is in the journal.
        void align(teamId).catch((error: unknown) => onError(error, { teamId }));
      }
      timer = setInterval(() => void saveAll(), saveEvery);
      timer.unref();
      leftovers.start();
      disk.start(() => [...workers.values()].map(({ teamId }) => teamId));
      started.resolve();
    },
    async open(worker) {
      if (!(await isApart(worker))) return undefined;
      return tellWhile(ledger, worker, async (telling) => {
        telling.step('is being opened');
        const workspace = await workspaceOf(worker);
        await settings.require(workspace);
        // Later, between its turns, the folder is the member's.
        if (await isStarting(worker)) await prepare(worker, workspace, telling);
        const { work } = await requirePlace(worker.teamId);
        return { folder: folderInWorkspace(workspace.folder, work), slot: slots.of(worker.teamId, worker.memberId) };
      });
    },
    async begin(worker, task) {
      if (await isApart(worker)) await tellWhile(ledger, worker, (telling) => begin(worker, task, telling));
    },
    beginInTurn,
    async saveNow(worker) {
      if (!(await isApart(worker))) return;
      const workspace = await workspaceOf(worker);
      const saved = await workspace.save();
      const isBusy = await ledger.view(worker.teamId, (state) => holders(state).includes(worker.memberId));
      // A member without a task looks at the work of others: a lead above all.
      if (isBusy || saved?.changes.length !== 0) return;
      const { work } = await bring(worker.teamId);
      await refresh(workspace, work.tip, false);
    },
    align,
    folderOf({ team, teamId, members }, memberId) {
      if (!team?.work || members.get(memberId)?.workspace !== 'own') return undefined;
      return folderInWorkspace(`${projects.places.workspaces}/${teamId}/${memberId}`, team.work);
    },
    placeOf,
    bring,
    async commitOf(teamId, commit) {
      return travel ? travel.bringWork(teamId, await requirePlace(teamId), commit) : commit;
    },
    answer: (question) => elsewhere.answer(question),
    saveOf: (worker) => elsewhere.saveOf(worker),
    isHere: elsewhere.isHere,
    workspaceOf,
    slotOf: ({ teamId, memberId }) => slots.of(teamId, memberId),
    setupOf: (worker) => preparing.lastRun(worker),

    save: (held) => elsewhere.saveOf(held),
    merge: async (held, saved, result) =>
      mergeWork({ ledger, travel, place: await bring(held.teamId) }, held, { ...saved, result }),
    async landed(held, { commit }) {
      const { teamId, memberId } = held;
      try {
        await align(teamId);
        const isHere = await ledger.view(teamId, (state) => elsewhere.isHere(state, memberId));
        // Another machine brings its own workspaces forward, with their next task.
        if (isHere) await bringForward(held, commit);
      } catch (error) {
        // The journal has it. The next start, or the next task, does the rest.
        onError(error, { teamId, memberId });
      }
    },
    async explain({ teamId }, work) {
      const { depot, work: standing } = await requirePlace(teamId);
      const landed = await ledger.view(teamId, (state) => landedSince(state, work.base));
      return explainConflict(depot, { work, landed, branch: standing.branch });
    },
    inTurn(teamId, land) {
      const turn = landings.get(teamId) ?? openQueue();
      landings.set(teamId, turn);
      return turn(land);
    },
    async checkOut({ teamId }, merged) {
      const place = await requirePlace(teamId);
      const landing = { teamId, memberId: LANDING };
      const workspace = await workspaceOf(landing);
      await workspace.refresh(merged);
      const slot = slots.of(teamId, LANDING);
      return makeReady(preparing, { ...landing, place, workspace, slot });
    },
    async sentBack(held, { onto, commit, merged }) {
      const { teamId, memberId, taskId, epoch } = held;
      try {
        const isHere = await ledger.view(teamId, (state) => elsewhere.isHere(state, memberId));
        if (!isHere) return;
        await layMerged(await workspaceOf(held), onto, commit);
        // Without a conflict, it simply goes on from the tip.
        const begin = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base: onto } as const;
        if (merged !== undefined) await ledger.execute(teamId, begin, () => undefined);
      } catch (error) {
        // Its folder stays as it is. If it hands in the same again, the same is laid again.
        onError(error, { teamId, memberId });
      }
    },
    async remove(teamId) {
      const place = await placeOf(teamId).catch((error: unknown) => {
        // Its repository is gone. That must not keep the team; its folders stay where they are.
        onError(error, { teamId });
        return undefined;
      });
      if (!place) return;
      for (const [key, worker] of workers) if (worker.teamId === teamId) workers.delete(key);
      await removeWorks(ledger, teamId, place);
      branches.forget(teamId);
      slots.free(teamId);
      await travel?.forget(teamId).catch((error: unknown) => onError(error, { teamId }));
    },
    async close() {
      stopFollowing();
      clearInterval(timer);
      leftovers.close();
      disk.close();
      await preparing.close();
    },
  };

  async function saveHere(worker: Worker): Promise<SavedWork> {
    const workspace = await workspaceOf(worker);
    const saved = await workspace.save();
    if (!saved) throw new TeamError('internal', `The workspace of ${worker.memberId} is shared`);
    const problem = wordProblems(await problemsOf(workspace, saved, settings));
    return { base: saved.base, commit: saved.commit, problem };
  }

  function isApart({ teamId, memberId }: Worker): Promise<boolean> {
    return ledger.view(teamId, (state) => worksApart(state, memberId));
  }

  function isStarting({ teamId, memberId }: Worker): Promise<boolean> {
    return ledger.view(teamId, ({ members }) => members.get(memberId)?.status === 'spawning');
  }

  async function prepare(worker: Worker, workspace: Workspace, telling: Telling, again = false): Promise<void> {
    const place = await requirePlace(worker.teamId);
    if (!place.work.setup) return;
    // The supervisor ends the programs of an earlier daemon by their records, and must not take ours for those.
    await started.promise;
    const slot = slots.of(worker.teamId, worker.memberId);
    await preparing.prepare({ ...worker, place, workspace, slot }, telling, again);
  }

  async function workspaceOf(worker: Worker): Promise<Workspace> {
    const { teamId, memberId } = worker;
    await elsewhere.requireHere(worker);
    // A folder that is open needs nothing new; it is saved also while no server is reachable.
    const { workspaces, work } = await (workers.has(keyOf(worker)) ? requirePlace(teamId) : bring(teamId));
    if (!workers.has(keyOf(worker))) await disk.requireRoom(worker);
    const { tip: base, copy } = work;
    const workspace = await workspaces.open({ team: teamId, member: memberId }, { base, ...(copy && { copy }) });
    workers.set(keyOf(worker), { teamId, memberId });
    return workspace;
  }

  async function begin(
    worker: Worker,
    { taskId, epoch }: { taskId: string; epoch: number },
    telling: Telling,
  ): Promise<void> {
    const { teamId, memberId } = worker;
    telling.step('is being brought to the branch');
    const { tip } = (await bring(teamId)).work;
    const workspace = await workspaceOf(worker);
    const saved = await workspace.save();
    const { before, isHandled } = await ledger.view(teamId, (state) => ({
      before: requireTask(state, taskId).work,
      // Whatever became of it, the journal names the commit.
      isHandled: [...state.tasks.values()].some(({ work }) => work?.commit === saved?.commit),
    }));
    const hasWork = saved !== undefined && saved.changes.length > 0;
    // It did a part of this very task before, and knows it: a process that ended, a turn that was cancelled.
    const isOfSetup = hasWork && preparing.isOfSetup(worker, saved);
    const isOwn = hasWork && before?.memberId === memberId;
    const began = before?.state === 'conflicted' ? before.onto : before?.base;
    const isContinued = isOwn && began === saved.base && !isHandled;
    // It went back because of a conflict, and both sides are not in the folder yet.
    const isSentBack = isOwn && before.state === 'conflicted' && before.commit === saved.commit;
    if (hasWork && !isContinued && !isHandled && !isOfSetup) {
      const ref = savesRef({ team: teamId, member: memberId });
      const why = 'it was not handed in with a task';
      const kept = { type: 'work.keep', by: SYSTEM, memberId, commit: saved.commit, ref, why } as const;
      await ledger.execute(teamId, { ...kept, commandId: `kept-${saved.commit}` }, () => undefined);
    }
    if (isSentBack) await layMerged(workspace, tip, saved.commit);
    else if (!isContinued) await refresh(workspace, tip, hasWork);
    // What it had written went with the refresh.
    await prepare(worker, workspace, telling, isOfSetup && !isContinued);
    const base = workspace.base ?? tip;
    const command = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base } as const;
    await ledger.execute(teamId, command, () => undefined);
  }

  async function beginInTurn(worker: Worker, { taskId, epoch }: { taskId: string; epoch: number }): Promise<void> {
    const { teamId, memberId } = worker;
    const { isDue, isOnly } = await ledger.view(teamId, (state) => claimOf(state, memberId, { taskId, epoch }));
    if (!isDue) return;
    // What it changed for another task is merged with the tip when that task is completed.
    if (isOnly) await bringForward(worker).catch((error: unknown) => onError(error, worker));
    const { base = '' } = await workspaceOf(worker);
    await ledger.execute(teamId, { type: 'work.begin', by: memberId, taskId, memberId, epoch, base }, () => undefined);
  }

  /** Brings a folder to the tip with a work merged into it, with markers where they conflict. */
  async function layMerged(workspace: Workspace, tip: string, commit: string): Promise<void> {
    const { depot } = await requirePlace(workspace.name.team);
    const { tree } = await depot.merge(tip, commit);
    await workspace.lay(tree, tip);
  }

  /** After its work was handed in, a workspace goes on from the tip. What the member changed since stays in it. */
  async function bringForward(worker: Worker, commit?: string): Promise<void> {
    const workspace = await workspaceOf(worker);
    const { depot, work } = await bring(worker.teamId);
    const saved = await workspace.save();
    if (!saved) return;
    const isHandedIn = saved.commit === commit;
    if (isHandedIn || saved.changes.length === 0) return refresh(workspace, work.tip, isHandedIn);
    const { tree, conflicts } = await depot.merge(work.tip, saved.commit);
    if (conflicts.length === 0) await workspace.lay(tree, work.tip);
  }

  /** Brings a folder to the tip. A file that is in no save may be in the way: then a clean folder stays at its base. */
  async function refresh(workspace: Workspace, tip: string, hasWork: boolean): Promise<void> {
    if (workspace.base === tip && !hasWork) return;
    try {
      await workspace.refresh(tip);
    } catch (error) {
      if (hasWork || !(error instanceof TeamError) || error.code !== 'conflict') throw error;
      onError(error, { teamId: workspace.name.team, memberId: workspace.name.member });
    }
  }

  /** Saves members that hold a task. An unchanged folder costs little. */
  async function saveAll(): Promise<void> {
    for (const worker of workers.values()) {
      try {
        const { teamId, memberId } = worker;
        const isBusy = await ledger.view(
          teamId,
          (state) => holders(state).includes(memberId) && elsewhere.isHere(state, memberId),
        );
        if (isBusy) await (await workspaceOf(worker)).save();
      } catch (error) {
        onError(error, worker);
      }
    }
  }
}

function keyOf({ teamId, memberId }: Worker): string {
  return `${teamId}/${memberId}`;
}
