import { TeamError } from '../../src/core/errors.ts';
import type { TeamState } from '../../src/core/state.ts';
import type { HandedIn } from '../../src/core/work.ts';
import type { HeldWork } from '../../src/ledger/hand-in.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openFollowing } from '../../src/runtime/landing/follow.ts';
import type { QueuedWork } from '../../src/runtime/landing/queued.ts';
import type { Branches, Several } from '../../src/runtime/work/branches.ts';
import { openElsewhere } from '../../src/runtime/work/elsewhere.ts';
import { openFolders } from '../../src/runtime/work/folders.ts';
import type { Folders, FoldersOptions } from '../../src/runtime/work/folders.ts';
import type { TeamPlace } from '../../src/runtime/work/team-places.ts';
import type { TeamWorks } from '../../src/runtime/work/team-works.ts';
import type { Files, Repository } from '../runtime/landing/repository.ts';
import { later, scheduler } from './scheduler.ts';
import { isUnresolved, only, resolve, simulatedDepot, simulatedWorkspaces } from './workspaces.ts';
import type { Folder } from './workspaces.ts';

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
  /** The daemons that share the journal, if several can. */
  readonly others: Several['others'] | undefined;
  /** A folder on this machine that has a commit. */
  readonly checkOut: (commit: string) => string;
  /** Whether git fails now: the disk is full, a lock was left. */
  readonly isAway: () => boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * The real folders of members and what follows the journal, above workspaces and a repository that follow the same
 * contract as git does. Their steps take time and can be cut off.
 */
export function simulatedWorks(options: WorksOptions): TeamWorks {
  const { ledger, hostId, repository, others, checkOut, isAway, onError } = options;
  let stopFollowing = (): void => {};

  const gitTakes = (): Promise<void> => later(scheduler.random('git').between(1, 60));
  /** What git does for a call that can fail. What follows the journal is repeated until it succeeds, and only takes time. */
  async function gitDoes(): Promise<void> {
    await gitTakes();
    if (isAway()) throw new TeamError('storage', 'The repository is away');
  }
  const tipOf = (teamId: string): Promise<string> => ledger.view(teamId, ({ team }) => team?.work?.tip ?? '');

  const workspaces = simulatedWorkspaces({ ...options, gitTakes });
  const depot = simulatedDepot(repository);
  async function placeOf(teamId: string): Promise<TeamPlace> {
    const work = await ledger.view(teamId, ({ team }) => team?.work);
    return only<TeamPlace>('place', { kind: 'clone', workspaces, depot, ...(work && { work }) });
  }
  const travel = only<NonNullable<Branches['travel']>>('travel', {
    lend: async (_teamId, _place, { commit }) => ({ commit, hash: '0'.repeat(64), size: 0 }),
    take: async () => {},
  });
  const branches = only<Branches>('branches', {
    requirePlace: placeOf,
    bring: placeOf,
    align: async () => {},
    isOpened: () => true,
    travel,
  });
  const several = others && only<Several>('machines', { hostId, others });
  const elsewhere = openElsewhere({ ledger, several, branches, saveHere: (worker) => folders.saveHere(worker) });
  const folders: Folders = openFolders({
    ledger,
    branches,
    elsewhere,
    disk: only<FoldersOptions['disk']>('disk', { requireRoom: async () => {} }),
    settings: only<FoldersOptions['settings']>('settings', { problems: async () => [], require: async () => {} }),
    preparing: only<FoldersOptions['preparing']>('setup', { prepare: async () => {}, isOfSetup: () => false }),
    slots: only<FoldersOptions['slots']>('slots', { of: () => 1 }),
    overlaps: { saved: () => {}, drop: () => {} },
    started: Promise.resolve(),
    onError,
  });
  const following = openFollowing({ ledger, branches, elsewhere, folders, onError });

  function size({ base, commit }: { base: string; commit: string }) {
    const paths = repository.changed(base, commit);
    return { files: paths.length, added: paths.length, removed: 0, paths };
  }

  // A method that no member of these teams calls is missing, and says so.
  return only<TeamWorks>('works', {
    ...folders,
    ...following,
    save: (held) => elsewhere.saveOf(held),
    saveOf: (worker) => elsewhere.saveOf(worker),
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
    explain: async (_teamId, { conflicts = [] }) => `Bring together ${conflicts.join()}`,
    publish: async (_teamId, merged) => [...merged],
    isGone: async () => false,
    async checkOut(_teamId, merged) {
      await gitDoes();
      return { folder: checkOut(merged), slot: 7 };
    },
    isHere: elsewhere.isHere,
    async isAsHandedIn(teamId, { memberId, commit }) {
      await gitDoes();
      const workspace = await folders.workspaceOf({ teamId, memberId });
      return (await workspace.save())?.commit === commit;
    },
    isNear: ({ members }: TeamState) => [...members.values()].some((member) => member.hostId === hostId),
    isAlive: (other) => others?.names().includes(other) ?? false,
    folderOf: () => undefined,
    placeOf: async () => undefined,
    slotOf: () => 1,
    answer: (question) => elsewhere.answer(question),
    async start() {
      stopFollowing = following.follow();
    },
    async align() {},
    async close() {
      stopFollowing();
    },
  });
}
