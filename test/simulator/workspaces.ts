import { TeamError } from '../../src/core/errors.ts';
import type { Depot } from '../../src/workspaces/depot.ts';
import type { Merged } from '../../src/workspaces/depot/merge.ts';
import type { MoveOptions, Saved, Workspace, WorkspaceName, Workspaces } from '../../src/workspaces/workspace.ts';
import type { Files, Repository } from '../runtime/landing/repository.ts';
import { scheduler } from './scheduler.ts';

/** What lies in a workspace. It survives the daemon and its machine. */
export interface Folder {
  base: string;
  files: Files;
  tasks?: readonly string[];
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

export interface WorkspacesOptions {
  readonly repository: Repository;
  /** The saves of all members, by what they have. */
  readonly saves: Map<string, string>;
  /** The workspaces on this machine. */
  readonly folders: Map<string, Folder>;
  readonly gitTakes: () => Promise<void>;
}

/** Workspaces whose trees are commits. Each call takes time, and then happens in one step, as the real one lays a tree. */
export function simulatedWorkspaces({ repository, saves, folders, gitTakes }: WorkspacesOptions): Workspaces {
  return only<Workspaces>('workspaces', {
    async open(name, { base }) {
      if (!folders.has(name.member)) await gitTakes();
      const folder = folders.get(name.member) ?? { base, files: repository.files(base) };
      folders.set(name.member, folder);
      return workspaceIn(name, folder);
    },
  });

  function workspaceIn(name: WorkspaceName, folder: Folder): Workspace {
    const move = async (commit: string, base: string, { ifSaved }: MoveOptions = {}): Promise<Saved> => {
      await gitTakes();
      const saved = save(name.member, folder);
      if (ifSaved === undefined || saved.commit === ifSaved) {
        Object.assign(folder, { base, files: repository.files(commit) });
      }
      return saved;
    };
    const workspace: Partial<Workspace> = {
      name,
      folder: '/',
      opened: { how: 'found', copied: [], notCopied: [], submodules: [] },
      async save() {
        await gitTakes();
        return save(name.member, folder);
      },
      review: async ({ commit }) =>
        isUnresolved(repository.files(commit)) ? [{ kind: 'markers', path: 'file', line: 1 }] : [],
      unsaved: async () => [],
      // A save has everything.
      discard: async () => [],
      refresh: (tip, moving) => move(tip, tip, moving),
      lay: move,
      async workOn(tasks) {
        folder.tasks = [...tasks];
      },
    };
    // They change.
    Object.defineProperty(workspace, 'base', { get: () => folder.base });
    Object.defineProperty(workspace, 'tasks', { get: () => folder.tasks });
    return only('workspace', workspace);
  }

  function save(memberId: string, { base, files }: Folder): Saved {
    const key = JSON.stringify([memberId, base, Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const known = saves.get(key);
    const commit = known ?? repository.add(files);
    saves.set(key, commit);
    const changes = repository.changed(base, commit).map((path) => ({ path, status: 'modified' as const }));
    return { commit, tree: commit, base, at: scheduler.wall(), unchanged: known !== undefined, changes, leftOut: [] };
  }
}

const NOTHING = { code: 0, out: Buffer.alloc(0), err: '', isCut: false };

/** The repository as folders use it. */
export function simulatedDepot(repository: Repository): Depot {
  return only<Depot>('depot', {
    // Nothing is lost.
    has: async (ids) => [...ids],
    async merge(tip, commit, { base = '' } = {}) {
      const [ours, theirs, before] = [tip, commit, base].map((id) => repository.files(id)) as [Files, Files, Files];
      const merged: Record<string, string> = { ...ours };
      const conflicts: Merged['conflicts'][number][] = [];
      for (const [path, text] of Object.entries(theirs)) {
        if (text === before[path]) continue;
        const isConflict = ours[path] !== before[path] && ours[path] !== text;
        merged[path] = isConflict ? [MARKER, ours[path] ?? '', text].join('\n') : text;
        if (isConflict) conflicts.push({ path, kinds: [], stages: {} });
      }
      return { tree: repository.add(merged), conflicts };
    },
    // No file has rules of what is ignored.
    handle: only<Depot['handle']>('git', { run: async () => NOTHING }),
  });
}

/** Part of something. What is missing says so when it is used. */
export function only<T extends object>(what: string, part: Partial<T>): T {
  return new Proxy(part as T, {
    get(target, name) {
      if (name in target || typeof name === 'symbol' || name === 'then') return Reflect.get(target, name) as unknown;
      throw new TeamError('internal', `The simulated ${what} has no ${name}`);
    },
  });
}
