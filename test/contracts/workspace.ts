import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Workspaces } from '../../src/workspaces/workspace.ts';

/** The workspaces of a project with a file `README.md`, and two of its commits. */
export interface Opened {
  readonly workspaces: Workspaces;
  readonly base: string;
  /** A descendant of the base with a file `later.txt`. */
  readonly tip: string;
}

const [ADA, BOB] = [
  { team: 'alpha', member: 'ada' },
  { team: 'alpha', member: 'bob' },
];

/** Checks every sentence of the port's contract on an adapter. */
export function describeWorkspaces(name: string, open: () => Promise<Opened>): void {
  describe(`${name} workspaces`, () => {
    test('open a folder with the project, and the same workspace for the same name', async () => {
      const { workspaces, base } = await open();
      expect(workspaces.kind).toBe(name);
      const [ada, again] = await Promise.all([workspaces.open(ADA, { base }), workspaces.open(ADA, { base })]);
      expect(again.folder).toBe(ada.folder);
      expect(ada.name).toEqual(ADA);
      expect(existsSync(join(ada.folder, 'README.md'))).toBe(true);
      const known = await workspaces.list();
      expect(known).toEqual(workspaces.kind === 'shared' ? [] : [ADA]);
    });

    test('keep two members apart, unless they are shared', async () => {
      const { workspaces, base } = await open();
      const [ada, bob] = await Promise.all([workspaces.open(ADA, { base }), workspaces.open(BOB, { base })]);
      writeFileSync(join(ada.folder, 'README.md'), "Ada's\n");
      const seen = readFileSync(join(bob.folder, 'README.md'), 'utf8');
      expect(seen === "Ada's\n").toBe(workspaces.kind === 'shared');
    });

    test('save and refresh, and never touch a shared folder', async () => {
      const { workspaces, base, tip } = await open();
      const ada = await workspaces.open(ADA, { base });
      const isShared = workspaces.kind === 'shared';
      expect(ada.base).toBe(isShared ? undefined : base);
      writeFileSync(join(ada.folder, 'README.md'), 'changed\n');
      const saved = await ada.save();
      expect(saved?.changes).toEqual(isShared ? undefined : [{ path: 'README.md', status: 'modified' }]);
      expect(saved && (await ada.review(saved))).toEqual(isShared ? undefined : []);
      expect(await ada.unsaved(base)).toEqual([]);
      expect(await ada.saves()).toHaveLength(isShared ? 0 : 1);
      await ada.refresh(tip);
      expect(ada.base).toBe(isShared ? undefined : tip);
      expect(existsSync(join(ada.folder, 'later.txt'))).toBe(!isShared);
      expect(readFileSync(join(ada.folder, 'README.md'), 'utf8') === 'changed\n').toBe(isShared);
      if (saved) await ada.restore(saved.commit);
      expect(readFileSync(join(ada.folder, 'README.md'), 'utf8')).toBe('changed\n');
    });

    test('discard what no save can hold, and nothing else', async () => {
      const { workspaces, base } = await open();
      const ada = await workspaces.open(ADA, { base });
      mkdirSync(join(ada.folder, 'tools', 'vendor', '.git', 'objects'), { recursive: true });
      mkdirSync(join(ada.folder, 'tools', 'vendor', '.git', 'refs'));
      writeFileSync(join(ada.folder, 'tools', 'vendor', '.git', 'HEAD'), 'ref: refs/heads/main\n');
      writeFileSync(join(ada.folder, 'tools', 'vendor', 'one.txt'), 'one\n');
      writeFileSync(join(ada.folder, 'tools', 'own.txt'), 'own\n');
      const saved = await ada.save();
      const leftOut = saved?.leftOut ?? [{ path: 'tools/vendor', reason: 'nested-repository' } as const];
      expect(leftOut.map(({ path }) => path.replace(/\/$/, ''))).toEqual(['tools/vendor']);
      const gone = [
        { path: 'README.md', reason: 'unreadable' },
        { path: 'tools/own.txt', reason: 'copied' },
        { path: 'never-there', reason: 'file-size' },
      ] as const;
      const isShared = workspaces.kind === 'shared';
      expect(await ada.discard([...leftOut, ...gone])).toEqual(isShared ? [] : ['tools/vendor']);
      expect(existsSync(join(ada.folder, 'tools', 'vendor'))).toBe(isShared);
      expect(existsSync(join(ada.folder, 'tools', 'own.txt'))).toBe(true);
      expect(existsSync(join(ada.folder, 'README.md'))).toBe(true);
      expect((await ada.save())?.leftOut).toEqual(isShared ? undefined : []);

      writeFileSync(join(ada.folder, 'README.md'), 'something large\n');
      expect(await ada.discard([{ path: 'README.md', reason: 'file-size' }])).toEqual(isShared ? [] : ['README.md']);
      expect(readFileSync(join(ada.folder, 'README.md'), 'utf8') === 'something large\n').toBe(isShared);
      expect((await ada.save())?.changes.map(({ path }) => path)).toEqual(isShared ? undefined : ['tools/own.txt']);
    });

    test('stay as they are if somebody wrote into them since a save', async () => {
      const { workspaces, base, tip } = await open();
      const ada = await workspaces.open(ADA, { base });
      writeFileSync(join(ada.folder, 'README.md'), 'handed in\n');
      const { commit: ifSaved = '', tree = '' } = (await ada.save()) ?? {};
      writeFileSync(join(ada.folder, 'README.md'), 'written meanwhile\n');
      const moved = [await ada.refresh(tip, { ifSaved }), await ada.lay(tree, tip, { ifSaved })];
      expect(moved.some((saved) => saved?.commit === ifSaved)).toBe(false);
      expect(readFileSync(join(ada.folder, 'README.md'), 'utf8')).toBe('written meanwhile\n');
      expect(ada.base).toBe(workspaces.kind === 'shared' ? undefined : base);
      const last = await ada.save();
      expect((await ada.refresh(tip, last && { ifSaved: last.commit }))?.commit).toBe(last?.commit);
      expect(ada.base).toBe(workspaces.kind === 'shared' ? undefined : tip);
    });

    test('know when setup has to run', async () => {
      const { workspaces, base } = await open();
      const ada = await workspaces.open(ADA, { base });
      const isOwn = workspaces.kind !== 'shared';
      expect(await ada.needsSetup('npm ci, lock 1')).toBe(isOwn);
      await ada.setupDone('npm ci, lock 1');
      expect(await ada.needsSetup('npm ci, lock 1')).toBe(false);
      expect(await ada.needsSetup('npm ci, lock 2')).toBe(isOwn);
      await ada.forgetSetup();
      expect(await ada.needsSetup('npm ci, lock 1')).toBe(isOwn);
    });

    test('know which tasks their files are of', async () => {
      const { workspaces, base } = await open();
      const ada = await workspaces.open(ADA, { base });
      expect(ada.tasks).toBeUndefined();
      await ada.workOn(['1', '2']);
      await ada.refresh(base);
      expect(ada.tasks).toEqual(workspaces.kind === 'shared' ? undefined : ['1', '2']);
    });

    test('close: an own folder goes, a shared one stays', async () => {
      const { workspaces, base } = await open();
      const ada = await workspaces.open(ADA, { base });
      mkdirSync(join(ada.folder, 'sub'));
      writeFileSync(join(ada.folder, 'sub', 'new.txt'), 'work\n');
      expect(await ada.size()).toBeGreaterThanOrEqual(0);
      const { kept, trash } = await ada.close({ tip: base });
      const isShared = workspaces.kind === 'shared';
      expect(existsSync(ada.folder)).toBe(isShared);
      expect(kept === undefined).toBe(isShared);
      expect(trash === undefined).toBe(isShared);
      expect(await workspaces.list()).toEqual([]);
    });
  });
}
