import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { TeamState } from '../../src/core/state.ts';
import { requireTask } from '../../src/core/view.ts';
import type { HandedIn } from '../../src/core/work.ts';
import type { HeldWork, SavedWork } from '../../src/ledger/hand-in.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { QueuedWork } from '../../src/runtime/landing/queued.ts';
import type { TeamWorks } from '../../src/runtime/work/team-works.ts';
import type { Files, Repository } from '../runtime/landing/repository.ts';
import { later, scheduler } from './scheduler.ts';

/** What lies in a workspace. It survives the daemon and its machine. */
export interface Folder {
  base: string;
  files: Files;
}

const MARKER = '<<<<<<<';

/** Whether somebody has to bring two sides together. */
export function isUnresolved(files: Files): boolean {
  return Object.values(files).some((text) => text.includes(MARKER));
}

/** Keeps the lines of both sides. */
export function resolve(files: Files): Files {
  const keep = (text: string): string => [...new Set(text.split('\n'))].filter((line) => line !== MARKER).join('\n');
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, keep(text)]));
}

/** What a member makes of files for its task: it adds a line to one that others change, too. Some do it badly at first. */
export function worked(before: Files, taskId: string): Files {
  const resolved = isUnresolved(before) ? resolve(before) : before;
  // What somebody landed while there was no gate.
  const files = mapText(resolved, (text) => text.split('\n').filter((line) => !isOthersBad(line, taskId)));
  const path = `file-${Number(taskId) % 4}`;
  const lines = (files[path] ?? '').split('\n').filter(Boolean);
  const bad = `bad ${taskId}`;
  const isMended = lines.includes(bad);
  const isBad = Number(taskId) % 5 === 0 && !lines.includes(`task ${taskId}`);
  const kept = new Set(lines.filter((line) => line !== bad));
  kept.add(`task ${taskId}`);
  if (isBad && !isMended) kept.add(bad);
  return { ...files, [path]: [...kept].join('\n') };
}

function isOthersBad(line: string, taskId: string): boolean {
  return line.startsWith('bad ') && line !== `bad ${taskId}`;
}

function mapText(files: Files, edit: (text: string) => string[]): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, edit(text).join('\n')]));
}

export interface WorksOptions {
  readonly ledger: Ledger;
  readonly hostId: string;
  /** The commits of all machines: packs travel at once. */
  readonly repository: Repository;
  /** The saves of all members, by what they have. */
  readonly saves: Map<string, string>;
  /** The workspaces on this machine. */
  readonly folders: Map<string, Folder>;
  /** A folder on this machine that has a commit. */
  readonly checkOut: (commit: string) => string;
  readonly isAlive: (hostId: string) => boolean;
  /** Whether git fails now: the disk is full, a lock was left. */
  readonly isAway: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** Workspaces and a repository that follow the same contract as git does, with steps that take time and can be cut off. */
export function simulatedWorks(options: WorksOptions): TeamWorks {
  const { ledger, hostId, repository, saves, folders, checkOut, isAlive, isAway, onError } = options;
  const unsettled = new Map<string, Promise<void>>();
  let stopFollowing = (): void => {};

  const gitTakes = (): Promise<void> => later(scheduler.random('git').between(1, 60));
  /** What git does for a call that can fail. What follows the journal is repeated until it succeeds, and only takes time. */
  async function gitDoes(): Promise<void> {
    await gitTakes();
    if (isAway()) throw new TeamError('storage', 'The repository is away');
  }
  const tipOf = (teamId: string): Promise<string> => ledger.view(teamId, ({ team }) => team?.work?.tip ?? '');

  async function folderOf(teamId: string, memberId: string): Promise<Folder> {
    const there = folders.get(memberId);
    if (there) return there;
    const tip = await tipOf(teamId);
    await gitTakes();
    const made = folders.get(memberId) ?? { base: tip, files: repository.files(tip) };
    folders.set(memberId, made);
    return made;
  }

  async function save(teamId: string, memberId: string): Promise<SavedWork> {
    const folder = await folderOf(teamId, memberId);
    await gitTakes();
    const problem = isUnresolved(folder.files) ? 'There are markers of a conflict' : undefined;
    return { base: folder.base, commit: commitOf(memberId, folder), problem };
  }

  function commitOf(memberId: string, { base, files }: Folder): string {
    const key = JSON.stringify([memberId, base, Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const commit = saves.get(key) ?? repository.add(files);
    saves.set(key, commit);
    return commit;
  }

  function size({ base, commit }: { base: string; commit: string }) {
    const paths = repository.changed(base, commit);
    return { files: paths.length, added: paths.length, removed: 0, paths };
  }

  /** Both sides into the folder, in one step, as the real one lays a tree. */
  async function layMerged(teamId: string, memberId: string, tip: string): Promise<void> {
    const folder = await folderOf(teamId, memberId);
    await gitTakes();
    const [ours, theirs] = [repository.files(tip), folder.files];
    const base = repository.files(folder.base);
    const merged: Record<string, string> = { ...ours };
    for (const [path, text] of Object.entries(theirs)) {
      if (text === base[path]) continue;
      const isConflict = ours[path] !== base[path] && ours[path] !== text;
      merged[path] = isConflict ? [MARKER, ours[path] ?? '', text].join('\n') : text;
    }
    Object.assign(folder, { base: tip, files: merged });
  }

  async function begin(teamId: string, memberId: string, { taskId, epoch }: { taskId: string; epoch: number }) {
    const tip = await tipOf(teamId);
    const saved = await save(teamId, memberId);
    const { before, isHandled } = await ledger.view(teamId, (state) => ({
      before: requireTask(state, taskId).work,
      isHandled: [...state.tasks.values()].some(({ work }) => work?.commit === saved.commit),
    }));
    const isOwn = size(saved).files > 0 && before?.memberId === memberId;
    const began = before?.state === 'conflicted' ? before.onto : before?.base;
    const isContinued = isOwn && began === saved.base && !isHandled;
    const folder = await folderOf(teamId, memberId);
    const isSentBack = isOwn && before.state === 'conflicted' && before.commit === saved.commit;
    if (isSentBack) await layMerged(teamId, memberId, tip);
    else if (!isContinued) {
      await gitTakes();
      Object.assign(folder, { base: tip, files: repository.files(tip) });
    }
    const command = { type: 'work.begin', by: memberId, taskId, memberId, epoch, base: folder.base } as const;
    await ledger.execute(teamId, command, () => undefined);
  }

  /** After it landed, its folder goes on from the tip; sent back with a conflict, it gets both sides. */
  function follow(teamId: string, event: TeamEvent, state: TeamState): void {
    if (event.type !== 'work:landed' && event.type !== 'work:conflicted') return;
    const { taskId } = event;
    const { work } = state.tasks.get(taskId) ?? {};
    if (!work || !isHere(state, work.memberId)) return;
    const { memberId, commit, merged, onto } = work;
    const key = `${teamId}/${taskId}`;
    const step = async (): Promise<void> => {
      if (event.type === 'work:conflicted') return layMerged(teamId, memberId, onto ?? '');
      const folder = await folderOf(teamId, memberId);
      if (commitOf(memberId, folder) !== commit || merged === undefined) return;
      await gitTakes();
      Object.assign(folder, { base: merged, files: repository.files(merged) });
    };
    const done = (unsettled.get(key) ?? Promise.resolve()).then(step).catch(onError);
    unsettled.set(key, done);
  }

  function isHere({ members }: TeamState, memberId: string): boolean {
    return members.get(memberId)?.hostId === hostId;
  }

  const works: Partial<TeamWorks> = {
    async open({ teamId, memberId }) {
      await folderOf(teamId, memberId);
      return { folder: '/', slot: 1 };
    },
    begin: ({ teamId, memberId }, task) => begin(teamId, memberId, task),
    saveNow: async ({ teamId, memberId }) => void (await save(teamId, memberId)),
    save: ({ teamId, memberId }) => save(teamId, memberId),
    saveOf: ({ teamId, memberId }) => save(teamId, memberId),
    async measure(_held, saved) {
      await gitDoes();
      return { ...saved, ...size(saved) };
    },
    async merge({ teamId, memberId, epoch }: HeldWork, { base, commit }): Promise<HandedIn> {
      const onto = await tipOf(teamId);
      await gitDoes();
      const about = { memberId, epoch, base, commit, ...size({ base, commit }), onto };
      return { ...about, ...repository.merge(base, commit, onto) };
    },
    async mergeOnto(_teamId, queued: QueuedWork, onto) {
      const { memberId, epoch, base, commit, files, added, removed, paths } = queued;
      await gitDoes();
      const about = { memberId, epoch, base, commit, files, added, removed, paths, onto };
      return { ...about, ...repository.merge(base, commit, onto) };
    },
    settled: async ({ teamId, taskId }) => unsettled.get(`${teamId}/${taskId}`),
    explain: async (_teamId, { conflicts = [] }) => `Bring together ${conflicts.join()}`,
    publish: async (_teamId, merged) => [...merged],
    isGone: async () => false,
    async checkOut(_teamId, merged) {
      await gitDoes();
      return { folder: checkOut(merged), slot: 7 };
    },
    isHere,
    async isAsHandedIn(teamId, { memberId, commit }) {
      await gitDoes();
      return (await save(teamId, memberId)).commit === commit;
    },
    isNear: ({ members }) => [...members.values()].some((member) => member.hostId === hostId),
    isAlive,
    folderOf: () => undefined,
    placeOf: async () => undefined,
    slotOf: () => 1,
    answer: () => undefined,
    async start() {
      stopFollowing = ledger.subscribe((teamId, { events }, state) => {
        for (const event of events) follow(teamId, event, state);
      });
    },
    async align() {},
    async close() {
      stopFollowing();
    },
  };
  // A method that no member of these teams calls is missing, and says so.
  return new Proxy(works as TeamWorks, {
    get(target, name) {
      if (name in target || typeof name === 'symbol' || name === 'then') return Reflect.get(target, name) as unknown;
      throw new TeamError('internal', `The simulated workspaces have no ${name}`);
    },
  });
}
