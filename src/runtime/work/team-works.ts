import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import { PATHS_PER_WORK } from '../../core/limits.ts';
import type { TeamState } from '../../core/state.ts';
import { requireMember, requireTask, requireTeam } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { WorkLander } from '../../ledger/work-lander.ts';
import { savesRef } from '../../workspaces/depot/saves.ts';
import type { Workspace } from '../../workspaces/workspace.ts';
import { claimOf, holders, isOpen } from './held.ts';
import { wordProblems } from './problems.ts';
import type { Projects } from './project.ts';
import { openSlots } from './slots.ts';
import { squashOf } from './squash.ts';
import { openTeamPlaces } from './team-places.ts';
import type { TeamPlace } from './team-places.ts';

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
  /** Milliseconds between two saves of a member that works. */
  readonly saveEvery?: number;
  readonly onError: (error: unknown, about: { teamId: string; memberId?: string }) => void;
}

/** The workspaces of all teams of this daemon, and their branches. */
export interface TeamWorks extends WorkLander {
  readonly projects: Projects;
  /** Brings the branches of all teams to what the journal says, and begins to save. */
  start(): Promise<void>;
  /** Opens a member's workspace; undefined if it has none of its own. */
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
  /** The open workspace of a member. */
  workspaceOf(worker: Worker): Promise<Workspace>;
  /** The number of a workspace. */
  slotOf(worker: Worker): number;
  /** Puts away all workspaces of a team: work that is not on the branch is kept by refs, folders go to the trash. */
  remove(teamId: string): Promise<void>;
  close(): void;
}

const SAVE_EVERY_MS = 30_000;

/** Opens the workspaces of all teams. Nothing is opened on disk before it is needed. */
export function openTeamWorks(options: TeamWorksOptions): TeamWorks {
  const { ledger, projects, saveEvery = SAVE_EVERY_MS, onError } = options;
  const slots = openSlots(projects.places.workspaces);
  const { placeOf, requirePlace, forget } = openTeamPlaces(ledger, projects);
  /** Members that this daemon has opened a workspace for. */
  const workers = new Map<string, Worker>();
  const aligning = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  return {
    projects,
    async start() {
      const found = await ledger.viewAll(
        (state) => (isOpen(state) ? [{ teamId: state.teamId, members: holders(state) }] : []),
        { unreadable: () => [] },
      );
      for (const { teamId, members } of found.flat()) {
        for (const memberId of members) workers.set(keyOf({ teamId, memberId }), { teamId, memberId });
        // Members need not wait for it: what they begin from is in the journal.
        void align(teamId).catch((error: unknown) => onError(error, { teamId }));
      }
      timer = setInterval(() => void saveAll(), saveEvery);
      timer.unref();
    },
    async open(worker) {
      const isApart = await ledger.view(worker.teamId, (state) => {
        requireTeam(state);
        return requireMember(state, worker.memberId).workspace === 'own';
      });
      if (!isApart) return undefined;
      const { folder } = await workspaceOf(worker);
      const { work } = await requirePlace(worker.teamId);
      return { folder: folderInWorkspace(folder, work), slot: slots.of(worker.teamId, worker.memberId) };
    },
    begin,
    beginInTurn,
    async saveNow(worker) {
      const isApart = await ledger.view(
        worker.teamId,
        (state) => requireMember(state, worker.memberId).workspace === 'own',
      );
      if (!isApart) return;
      const workspace = await workspaceOf(worker);
      const saved = await workspace.save();
      const { tip, isBusy } = await ledger.view(worker.teamId, (state) => ({
        tip: requireTeam(state).work?.tip ?? '',
        isBusy: holders(state).includes(worker.memberId),
      }));
      // A member without a task looks at the work of others: a lead above all.
      if (!isBusy && saved?.changes.length === 0) await refresh(workspace, tip, false);
    },
    align,
    folderOf({ team, teamId, members }, memberId) {
      if (!team?.work || members.get(memberId)?.workspace !== 'own') return undefined;
      return folderInWorkspace(`${projects.places.workspaces}/${teamId}/${memberId}`, team.work);
    },
    placeOf,
    workspaceOf,
    slotOf: ({ teamId, memberId }) => slots.of(teamId, memberId),

    async save(held) {
      const workspace = await workspaceOf(held);
      const saved = await workspace.save();
      if (!saved) throw new TeamError('internal', `The workspace of ${held.memberId} is shared`);
      const problems = await workspace.review(saved);
      return { base: saved.base, commit: saved.commit, problem: wordProblems(problems) };
    },
    async merge({ teamId, taskId, memberId, epoch }, { base, commit }, result) {
      const { depot, checkout, work } = await requirePlace(teamId);
      const about = { memberId, epoch, base, commit, onto: work.tip };
      const changed = await depot.diff(base, commit, { maxBytes: 1 });
      if (changed.files.length === 0) return { ...about, files: 0, added: 0, removed: 0, paths: [] };
      const size = {
        files: changed.files.length,
        added: changed.added,
        removed: changed.deleted,
        paths: changed.files.slice(0, PATHS_PER_WORK).map(({ path }) => path),
      };
      const squash = await ledger.view(teamId, (state) => squashOf(state, { taskId, memberId, result, checkout }));
      const landed = await depot.land({ tip: work.tip, work: commit }, { ...squash, at: Date.now() });
      if ('landed' in landed) return { ...about, ...size, merged: landed.landed };
      return { ...about, ...size, conflicts: landed.conflicts.slice(0, PATHS_PER_WORK).map(({ path }) => path) };
    },
    async landed(held, { commit }) {
      const { teamId, memberId } = held;
      try {
        await align(teamId);
        await bringForward(held, commit);
      } catch (error) {
        // The journal has it. The next start, or the next task, does the rest.
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
      const { depot, workspaces, work } = place;
      const landed = await ledger.view(teamId, ({ tasks }) =>
        [...tasks.values()].flatMap(({ work: done }) => (done?.state === 'landed' && done.commit ? [done.commit] : [])),
      );
      for (const name of await workspaces.list()) {
        if (name.team !== teamId) continue;
        workers.delete(keyOf({ teamId, memberId: name.member }));
        const workspace = await workspaces.open(name, { base: work.tip });
        await workspace.close({ tip: work.tip, landed });
      }
      forget(teamId);
      slots.free(teamId);
      // The name is free for another team, and the old branch must not be taken for its own.
      const tip = await depot.branch(work.branch);
      if (tip === undefined) return;
      const ref = `refs/heads/${work.branch}`;
      const old = `refs/deleted/${teamId}/${Date.now()}`;
      await depot.handle.changeRefs([
        { ref: old, to: tip },
        { ref, to: undefined, from: tip },
      ]);
    },
    close() {
      clearInterval(timer);
    },
  };

  async function workspaceOf(worker: Worker): Promise<Workspace> {
    const { teamId, memberId } = worker;
    const { workspaces, work } = await requirePlace(teamId);
    const { tip: base, copy } = work;
    const workspace = await workspaces.open({ team: teamId, member: memberId }, { base, ...(copy && { copy }) });
    workers.set(keyOf(worker), { teamId, memberId });
    return workspace;
  }

  async function begin(worker: Worker, { taskId, epoch }: { taskId: string; epoch: number }): Promise<void> {
    const { teamId, memberId } = worker;
    const isApart = await ledger.view(teamId, (state) => requireMember(state, memberId).workspace === 'own');
    if (!isApart) return;
    const workspace = await workspaceOf(worker);
    const saved = await workspace.save();
    const { tip, before, isHandled } = await ledger.view(teamId, (state) => ({
      tip: requireTeam(state).work?.tip ?? '',
      before: requireTask(state, taskId).work,
      // Whatever became of it, the journal names the commit.
      isHandled: [...state.tasks.values()].some(({ work }) => work?.commit === saved?.commit),
    }));
    const hasWork = saved !== undefined && saved.changes.length > 0;
    // It did a part of this very task before, and knows it: a process that ended, a turn that was cancelled.
    const isContinued = hasWork && before?.memberId === memberId && before.base === saved.base && !isHandled;
    if (hasWork && !isContinued && !isHandled) {
      const ref = savesRef({ team: teamId, member: memberId });
      const why = 'it was not handed in with a task';
      const kept = { type: 'work.keep', by: SYSTEM, memberId, commit: saved.commit, ref, why } as const;
      await ledger.execute(teamId, { ...kept, commandId: `kept-${saved.commit}` }, () => undefined);
    }
    if (!isContinued) await refresh(workspace, tip, hasWork);
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

  /** After its work was handed in, a workspace goes on from the tip. What the member changed since stays in it. */
  async function bringForward(worker: Worker, commit?: string): Promise<void> {
    const workspace = await workspaceOf(worker);
    const { depot, work } = await requirePlace(worker.teamId);
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

  function align(teamId: string): Promise<void> {
    const before = aligning.get(teamId) ?? Promise.resolve();
    const done = before.catch(() => {}).then(() => alignNow(teamId));
    aligning.set(teamId, done);
    return done;
  }

  async function alignNow(teamId: string): Promise<void> {
    const { depot, work } = await requirePlace(teamId);
    const now = await depot.branch(work.branch);
    if (now !== work.tip) await depot.moveBranch(work.branch, work.tip, now);
  }

  /** Saves members that hold a task. An unchanged folder costs little. */
  async function saveAll(): Promise<void> {
    for (const worker of workers.values()) {
      try {
        const isBusy = await ledger.view(worker.teamId, (state) => holders(state).includes(worker.memberId));
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
