import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPlainFiles } from '../../src/workspaces/clone/plain-file.ts';
import { compare, toChange } from '../../src/workspaces/depot/compare.ts';
import { readId } from '../../src/workspaces/git.ts';
import { stageFolder } from '../../src/workspaces/stage.ts';
import { WORK_LIMITS } from '../../src/workspaces/workspace.ts';
import type { Saved, Workspace } from '../../src/workspaces/workspace.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openStage, newProject, plainEnvironment, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';
import { ATTRIBUTES, changeSettled, changeSome } from './random-changes.ts';

const ADA = { team: 'alpha', member: 'ada' };

/** The packs of a depot: a quick save adds one. */
function packsOf({ depot }: Stage): string[] {
  return readdirSync(join(depot.dir, 'objects/pack')).filter((name) => name.endsWith('.pack'));
}

/** A workspace with a first save, which is never a quick one, and what counts its later quick saves. */
async function openSaved(options: Parameters<typeof openStage>[0] = {}) {
  const stage = await openStage(options);
  const ada = await stage.workspaces.open(ADA, { base: stage.checkout.head });
  write(ada.folder, { 'first.txt': 'first\n' });
  let last = await saveOf(ada);
  const seen = new Set(packsOf(stage));
  return {
    ...stage,
    ada,
    /** Saves, and says whether that was quick. */
    async save(): Promise<Saved & { isQuick: boolean; before: Saved }> {
      const before = last;
      last = await saveOf(ada);
      const added = packsOf(stage).filter((name) => !seen.has(name));
      for (const name of added) seen.add(name);
      return { ...last, before, isQuick: added.length > 0 };
    },
  };
}

async function saveOf(workspace: Workspace): Promise<Saved> {
  const saved = await workspace.save();
  if (!saved) throw new Error('It was not saved');
  return saved;
}

/** What the usual way saves of the same folder, on top of the same save. */
async function saveAsUsual({ git, depot, checkout }: Stage, { folder }: Workspace, { tree }: Saved): Promise<string> {
  const index = join(temporaryFolder(), 'index');
  const place = { dir: depot.dir, index, tree: folder };
  await git.run(place, ['read-tree', tree]);
  const filters = await depot.unknownFilters(checkout.head);
  await stageFolder({ git, dir: depot.dir, index, folder, limits: WORK_LIMITS, filters }, []);
  return readId(await git.run(place, ['write-tree']));
}

const PROJECTS = rounds(4, 100);
const SAVES = 12;

test(`${PROJECTS * SAVES} saves of random changes have the same tree, byte for byte, as in the usual way`, async () => {
  const next = seededRandom();
  let quick = 0;
  for (let project = 0; project < PROJECTS; project++) {
    const attributes = ATTRIBUTES[project % ATTRIBUTES.length] ?? '';
    const files = {
      'src/a.ts': 'a\n',
      'src/b.ts': 'b\n',
      'd/x': 'x\n',
      ...(attributes && { '.gitattributes': attributes }),
    };
    const stage = await openSaved({ root: newProject({ files }) });
    for (let i = 0; i < SAVES; i++) {
      changeSome(stage.ada.folder, next);
      const saved = await stage.save();
      quick += saved.isQuick ? 1 : 0;
      expect(saved.leftOut).toEqual([]);
      expect(saved.tree).toBe(await saveAsUsual(stage, stage.ada, saved.before));
      expect(saved.unchanged).toBe(saved.tree === saved.before.tree);
      expect(
        plainGit(stage.depot.dir, 'rev-parse', `${saved.commit}^{tree}`, 'refs/saves/alpha/ada').split('\n'),
      ).toEqual([saved.tree, saved.commit]);
      const changes = await compare(stage.depot.handle, [saved.base, saved.tree]);
      const inOrder = changes.map(toChange).sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
      expect([...saved.changes].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))).toEqual(
        inOrder,
      );
    }
    expect(await stage.depot.check()).toEqual([]);
  }
  expect(quick).toBeGreaterThan(PROJECTS);
  tell({ saves: PROJECTS * SAVES, quick });
});

/** Plain git, with a repository of its own that knows the depot's objects, on the folder of a workspace. */
function openPlain({ root, depot }: Stage, { folder }: Workspace, settings: readonly string[]) {
  const plain = join(temporaryFolder(), 'plain.git');
  plainGit(root, 'init', '-q', '--bare', plain);
  write(plain, { 'objects/info/alternates': `${depot.dir}/objects\n` });
  const env = { ...plainEnvironment(root), GIT_DIR: plain, GIT_WORK_TREE: folder, GIT_INDEX_FILE: join(plain, 'own') };
  const words = ['core.bare=false', 'core.safecrlf=false', ...settings].flatMap((setting) => ['-c', setting]);
  return (...args: string[]) =>
    execFileSync('git', [...words, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

const PLAIN_PROJECTS = rounds(2, 60);

test(`${PLAIN_PROJECTS * SAVES} saves of random changes have the tree that plain git add -A makes`, async () => {
  const next = seededRandom();
  let quick = 0;
  for (let project = 0; project < PLAIN_PROJECTS; project++) {
    const attributes = ATTRIBUTES[project % ATTRIBUTES.length] ?? '';
    const conversion = ['core.autocrlf=false', 'core.autocrlf=true', 'core.autocrlf=input'][project % 3] as string;
    const root = newProject({ files: { 'src/a.ts': 'a\r\n', 'd/x': 'x\n', '.gitattributes': attributes } });
    plainGit(join(root, 'project'), 'config', ...conversion.split('='));
    const stage = await openSaved({ root });
    const git = openPlain(stage, stage.ada, [conversion]);
    git('read-tree', stage.checkout.head);
    for (let i = 0; i < SAVES; i++) {
      changeSettled(stage.ada.folder, next);
      const saved = await stage.save();
      quick += saved.isQuick ? 1 : 0;
      git('add', '-A');
      expect(saved.leftOut).toEqual([]);
      expect(git('ls-tree', '-r', saved.tree)).toBe(git('ls-tree', '-r', git('write-tree')));
    }
  }
  tell({ saves: PLAIN_PROJECTS * SAVES, quick });
  console.log(`${quick} of ${PLAIN_PROJECTS * SAVES} saves were quick`);
});

describe('which saves are quick', () => {
  test('plain changes are, also with `* text=auto`; names and contents that git may change are not', async () => {
    const stage = await openSaved({
      root: newProject({
        files: { '.gitattributes': '* text=auto\n', 'src/a.ts': 'a\n', 'lib/.gitattributes': '*.x ident\n' },
      }),
    });
    const isQuick = async (files: Record<string, string>): Promise<boolean> => {
      write(stage.ada.folder, files);
      const { isQuick, unchanged } = await stage.save();
      expect(unchanged).toBe(false);
      return isQuick;
    };
    expect(await isQuick({ 'src/a.ts': 'edited\n', 'src/new/b.ts': 'new\n' })).toBe(true);
    expect(await isQuick({ 'src/a.ts': 'with\r\nreturns\r\n' })).toBe(false);
    expect(await isQuick({ 'src/a.ts': 'without\n' })).toBe(true);
    expect(await isQuick({ 'lib/b.x': '$Id$\n' })).toBe(false);
    expect(await isQuick({ 'src/~': 'x\n' })).toBe(false);
    expect(await isQuick({ 'src/ü': 'x\n' })).toBe(false);
    expect(await isQuick({ '.gitmodules': '\n' })).toBe(false);
    expect(await isQuick({ 'src/.gitattributes': '*.ts text\n' })).toBe(false);
    expect(await isQuick({ 'src/large': 'x'.repeat(5_000_000) })).toBe(false);
    expect(await isQuick({ 'src/a.ts': 'last\n' })).toBe(true);
  });

  test('a file that is written again with the same content makes no save', async () => {
    const stage = await openSaved();
    write(stage.ada.folder, { 'first.txt': 'first\n' });
    expect(await stage.save()).toMatchObject({ unchanged: true, isQuick: false, changes: [{ path: 'first.txt' }] });
  });
});

describe('reading a file of a workspace', () => {
  test('follows no link, waits for no pipe, and takes no more than it should', () => {
    const root = temporaryFolder();
    const folder = join(root, 'alpha/ada');
    write(root, { 'outside/secret': 'secret\n', 'alpha/ada/in/file': 'file\n', 'alpha/ada/tool': 'tool\n' });
    chmodSync(join(folder, 'tool'), 0o755);
    symlinkSync('../../outside', join(folder, 'out'));
    symlinkSync('in', join(folder, 'also-in'));
    symlinkSync('../../outside/secret', join(folder, 'link'));
    const files = openPlainFiles(folder);
    const read = (path: string, most = 100) => {
      const { mode, bytes } = files.read(path, most) ?? {};
      return mode === undefined ? undefined : `${mode} ${bytes?.toString()}`;
    };
    expect(read('in/file')).toBe('100644 file\n');
    expect(read('tool')).toBe('100755 tool\n');
    expect(read('link')).toBe('120000 ../../outside/secret');
    expect(read('out/secret')).toBeUndefined();
    expect(read('also-in/file')).toBeUndefined();
    expect(read('in/file', 4)).toBeUndefined();
    expect(read('in')).toBeUndefined();
    expect(read('missing')).toBeUndefined();
    expect(read('tool/missing')).toBeUndefined();
  });
});
