import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import type { SavedWork } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openQueues } from '../../workspaces/queue.ts';
import type { Opened, Saved, Workspace } from '../../workspaces/workspace.ts';
import { openBeginning } from './begin.ts';
import type { ClaimedTask } from './begin.ts';
import type { Branches } from './branches.ts';
import type { Disk } from './disk.ts';
import type { Elsewhere } from './elsewhere.ts';
import { asideOf, holders, worksApart } from './held.ts';
import type { SavedFor, Worker } from './held.ts';
import type { Overlaps } from './overlaps.ts';
import type { Preparing } from './prepare.ts';
import { listMissing, problemsOf, wordProblems } from './problems.ts';
import type { WorkSettings } from './settings.ts';
import type { Slots } from './slots.ts';
import { unlessEdited } from './unless-edited.ts';
import { hasNewRules, hasSubmodules, openHiddenTelling, tellMoved } from './unsaved.ts';
import { NOT_SAVED, tellWhile } from './waiting.ts';
import type { Telling } from './waiting.ts';

/** The workspace of a member, as its process uses it. */
export interface OpenedWork {
  /** The team's folder in the workspace. */
  readonly folder: string;
  readonly slot: number;
}

/** The folders of members on this machine. */
export interface Folders {
  /** Opens a member's workspace, ready to work in; undefined if it has none of its own. */
  open(worker: Worker): Promise<OpenedWork | undefined>;
  /** Prepares the workspace for a task that the member has just claimed, and records that. */
  begin(worker: Worker, task: ClaimedTask): Promise<void>;
  /** The same for a task that was claimed during a turn: what the member changed stays in its folder. */
  beginInTurn(worker: Worker, task: ClaimedTask): Promise<void>;
  /**
   * Saves the workspace of a member. An unchanged one of a member without a task is brought to the tip, but not during a
   * turn.
   */
  saveNow(worker: Worker, options?: { readonly inTurn?: boolean }): Promise<void>;
  /** Saves members that hold a task. An unchanged folder costs little. */
  saveAll(): Promise<void>;
  /** Saves a workspace of this machine, and says what is wrong with it. The work of a task may have been put aside. */
  saveHere(worker: SavedFor): Promise<SavedWork>;
  /** The open workspace of a member. */
  workspaceOf(worker: Worker): Promise<Workspace>;
  /** Brings a folder to the tip with its own work merged into it, with markers where they conflict. */
  layMerged(worker: Worker, tip: string): Promise<void>;
  /** After its work was handed in, a workspace goes on from the tip. What the member changed since stays in it. */
  bringForward(worker: Worker, commit?: string): Promise<void>;
  /** For whoever moves a folder: no turn begins meanwhile. `begin` and `saveNow` do so themselves. */
  alone<R>(worker: Worker, work: () => Promise<R>): Promise<R>;
  /** The members that this daemon has opened a workspace for. */
  workers(): readonly Worker[];
  /** Members that an earlier daemon opened one for. */
  remember(worker: Worker): void;
  forget(teamId: string): void;
}

/** What `openFolders` needs. */
export interface FoldersOptions {
  readonly ledger: Ledger;
  readonly branches: Branches;
  readonly elsewhere: Elsewhere;
  readonly disk: Disk;
  readonly settings: WorkSettings;
  readonly preparing: Preparing;
  readonly slots: Slots;
  /** Hears of every save of a member that works. */
  readonly overlaps: Pick<Overlaps, 'saved' | 'drop'>;
  /** Resolves when what an earlier daemon left has been ended. */
  readonly started: Promise<void>;
  readonly onError: (error: unknown, about: Worker) => void;
}

/** Opens nothing on disk before it is needed. */
export function openFolders(options: FoldersOptions): Folders {
  const { ledger, branches, elsewhere, disk, settings, preparing, slots, overlaps, started, onError } = options;
  const { requirePlace, bring } = branches;
  const known = new Map<string, Worker>();
  const tellHidden = openHiddenTelling(ledger);
  const queues = openQueues();
  /** Folders that were made again and whose member cannot miss anything, or was told. */
  const whole = new WeakSet<Opened>();
  const ways = { workspaceOf, prepare, refresh, layMerged, bringForward };
  const beginning = openBeginning({ ledger, branches, preparing, overlaps, onError, ...ways });

  return {
    async open(worker) {
      if (!(await isApart(worker))) return undefined;
      return tellWhile(ledger, worker, async (telling) => {
        telling.step('is being opened');
        await elsewhere.requireHere(worker);
        // Only here, where a member waits for it: work that has begun is saved and lands also at the limit.
        if (!known.has(keyOf(worker))) await disk.requireRoom(worker);
        const workspace = await workspaceOf(worker);
        await settings.require(workspace);
        // Later, between its turns, the folder is the member's.
        if (await isStarting(worker)) await prepare(worker, workspace, telling);
        const { work } = await requirePlace(worker.teamId);
        return { folder: folderInWorkspace(workspace.folder, work), slot: slots.of(worker.teamId, worker.memberId) };
      });
    },
    async begin(worker, task) {
      if (!(await isApart(worker))) return;
      await tellWhile(ledger, worker, (telling) => alone(worker, () => beginning.begin(worker, task, telling)));
      whole.add((await workspaceOf(worker)).opened);
    },
    beginInTurn: (worker, task) => alone(worker, () => beginning.inTurn(worker, task)),
    async saveNow(worker, { inTurn = false } = {}) {
      if (!(await isApart(worker))) return;
      if (inTurn) await saveOnly(worker);
      else await tellWhile(ledger, worker, () => alone(worker, () => saveBetweenTurns(worker)), NOT_SAVED);
    },
    saveAll,
    saveHere,
    workspaceOf,
    layMerged,
    bringForward,
    alone,
    workers: () => [...known.values()],
    remember: (worker) => void known.set(keyOf(worker), worker),
    forget(teamId) {
      for (const [key, worker] of known) if (worker.teamId === teamId) known.delete(key);
    },
  };

  /**
   * Moves a folder for one caller at a time. A turn begins when `begin` or the save before it has answered, and these wait
   * here: so whoever looks here whether the member rests, and moves its folder, moves it under no turn.
   */
  function alone<R>(worker: Worker, work: () => Promise<R>): Promise<R> {
    return queues(keyOf(worker), work);
  }

  async function saveOnly(worker: Worker): Promise<{ workspace: Workspace; saved: Saved | undefined }> {
    const workspace = await workspaceOf(worker);
    const saved = await workspace.save();
    if (saved) overlaps.saved(worker, saved);
    return { workspace, saved };
  }

  async function saveBetweenTurns(worker: Worker): Promise<void> {
    const { workspace, saved } = await saveOnly(worker);
    const isBusy = await ledger.view(worker.teamId, (state) => holders(state).includes(worker.memberId));
    // A member without a task looks at the work of others: a lead above all.
    if (isBusy || saved?.changes.length !== 0) return;
    const { work } = await bring(worker.teamId);
    await refresh(workspace, work.tip, false);
    // A lead never claims: it would get what the setup makes of the new tip only at its next start.
    if (work.setup) await tellWhile(ledger, worker, (telling) => prepare(worker, workspace, telling));
  }

  async function saveHere({ taskId, ...worker }: SavedFor): Promise<SavedWork> {
    const aside = await ledger.view(worker.teamId, (state) => asideOf(state, taskId));
    if (aside) return aside;
    const workspace = await workspaceOf(worker);
    const saved = await workspace.save();
    if (!saved) throw new TeamError('internal', `The workspace of ${worker.memberId} is shared`);
    const problems = await problemsOf(workspace, saved, settings);
    // What no save had is gone with the folder. Its member looks first; only then does the task count as done.
    if (workspace.opened.how === 'again' && !whole.has(workspace.opened)) problems.push(MADE_AGAIN);
    whole.add(workspace.opened);
    const place = await requirePlace(worker.teamId);
    const isLookedFor = problems.length > 0 || hasSubmodules(workspace) || (await hasNewRules(place, saved));
    const hidden = isLookedFor ? await workspace.unsaved(place.work.base) : [];
    await tellHidden(worker, hidden).catch((error: unknown) => onError(error, worker));
    const unsaved = listMissing(saved, hidden);
    const problem = wordProblems(problems, hidden);
    return { base: saved.base, commit: saved.commit, problem, ...(unsaved.length > 0 && { unsaved }) };
  }

  function isApart({ teamId, memberId }: Worker): Promise<boolean> {
    return ledger.view(teamId, (state) => worksApart(state, memberId));
  }

  function isStarting({ teamId, memberId }: Worker): Promise<boolean> {
    return ledger.view(teamId, ({ members }) => members.get(memberId)?.status === 'spawning');
  }

  async function prepare(worker: Worker, workspace: Workspace, telling: Telling): Promise<void> {
    const place = await requirePlace(worker.teamId);
    if (!place.work.setup) return;
    // The supervisor ends the programs of an earlier daemon by their records, and must not take ours for those.
    await started;
    const slot = slots.of(worker.teamId, worker.memberId);
    await preparing.prepare({ ...worker, place, workspace, slot }, telling);
  }

  async function workspaceOf(worker: Worker): Promise<Workspace> {
    const { teamId, memberId } = worker;
    await elsewhere.requireHere(worker);
    // A folder that is open needs nothing new; it is saved also while no server is reachable.
    const { workspaces, work } = await (known.has(keyOf(worker)) ? requirePlace(teamId) : bring(teamId));
    const { tip: base, copy } = work;
    const workspace = await workspaces.open({ team: teamId, member: memberId }, { base, ...(copy && { copy }) });
    known.set(keyOf(worker), { teamId, memberId });
    return workspace;
  }

  async function layMerged(worker: Worker, tip: string): Promise<void> {
    const workspace = await workspaceOf(worker);
    const { depot } = await requirePlace(worker.teamId);
    const moved: string[] = [];
    // Also what the member changed since it handed in.
    await unlessEdited(workspace, async (saved) => {
      const { tree } = await depot.merge(tip, saved.commit, { base: saved.base });
      // Its next turn is about to begin, and without both sides it could only hand in the same again.
      return workspace.lay(tree, tip, { ifSaved: saved.commit, onInTheWay: (paths) => void moved.push(...paths) });
    });
    if (moved.length > 0) await tellMoved(ledger, worker, moved);
  }

  async function bringForward(worker: Worker, commit?: string): Promise<void> {
    const workspace = await workspaceOf(worker);
    const { depot, work } = await bring(worker.teamId);
    await unlessEdited(workspace, async (saved) => {
      const isHandedIn = saved.commit === commit;
      if (isHandedIn || saved.changes.length === 0) return refresh(workspace, work.tip, isHandedIn, saved.commit);
      const { tree, conflicts } = await depot.merge(work.tip, saved.commit, { base: saved.base });
      return conflicts.length === 0 ? workspace.lay(tree, work.tip, { ifSaved: saved.commit }) : saved;
    });
  }

  /** Brings a folder to the tip. A file that is in no save may be in the way: then a clean folder stays at its base. */
  async function refresh(
    workspace: Workspace,
    tip: string,
    hasWork: boolean,
    ifSaved?: string,
  ): Promise<Pick<Saved, 'commit'> | undefined> {
    const isThere = { commit: ifSaved ?? tip };
    if (workspace.base === tip && !hasWork) return isThere;
    try {
      return await workspace.refresh(tip, { ...(ifSaved !== undefined && { ifSaved }) });
    } catch (error) {
      if (hasWork || !(error instanceof TeamError) || error.code !== 'conflict') throw error;
      onError(error, { teamId: workspace.name.team, memberId: workspace.name.member });
      return isThere;
    }
  }

  async function saveAll(): Promise<void> {
    for (const worker of known.values()) {
      try {
        const { teamId, memberId } = worker;
        const isBusy = await ledger.view(
          teamId,
          (state) => holders(state).includes(memberId) && elsewhere.isHere(state, memberId),
        );
        const saved = isBusy ? await (await workspaceOf(worker)).save() : undefined;
        if (saved) overlaps.saved(worker, saved);
      } catch (error) {
        onError(error, worker);
      }
    }
  }
}

/** For its member, once. */
const MADE_AGAIN =
  'your folder was gone, or something else was in its place: it was made again from its last save. Look for what is missing, and write it again';

function keyOf({ teamId, memberId }: Worker): string {
  return `${teamId}/${memberId}`;
}
