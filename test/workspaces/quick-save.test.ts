import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
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
import { openStage, newProject, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';

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

const NAMES = [
  'a',
  'a.b',
  'd/x',
  'd/y.txt',
  'd/e/z',
  'd/e/f/g',
  'src/a.ts',
  'src/b.ts',
  'sp ace',
  "quo'te",
  '.github/flow.yml',
  '-dash',
];
const ODD_NAMES = [
  'odd~1',
  'ünï',
  'quo"te',
  'back\\slash',
  'new\nline',
  'd/.gitattributes',
  '.gitignore',
  'd/.gitkeep',
];
const ATTRIBUTES = ['', '* text=auto\n', '* text=auto eol=crlf\n*.ts ident\n', '*.txt text\n[attr]q eol=lf\nd/* q\n'];

const CONTENTS = ['', 'one\n', 'two\nlines\n', 'with\r\nreturns\r\n', '$Id$\n', 'other\n', 'b\0\r\n'];

/** Makes a random change: an edit, a new file, a removal, a mode, a link, a file in place of a folder, or the other way. */
function change(folder: string, next: () => number): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const name = next() < 0.9 ? pick(NAMES) : pick(ODD_NAMES);
  const path = join(folder, name);
  const what = next();
  if (what < 0.2) {
    rmSync(next() < 0.3 ? join(folder, name.split('/')[0] ?? '') : path, { recursive: true, force: true });
    return;
  }
  // What is in the way goes.
  for (let above = dirname(path); above.length > folder.length; above = dirname(above)) {
    if (lstatSync(above, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(above);
  }
  const here = lstatSync(path, { throwIfNoEntry: false });
  if (what < 0.3 && here?.isFile()) chmodSync(path, next() < 0.5 ? 0o755 : 0o644);
  else if (what < 0.4 && here?.isFile()) writeFileSync(path, readFileSync(path));
  else {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    if (what < 0.5) symlinkSync(pick(['a', '/etc/passwd', '../..', 'd']), path);
    else if (name.endsWith('.gitattributes')) writeFileSync(path, pick(ATTRIBUTES));
    else writeFileSync(path, pick(CONTENTS));
  }
}

/**
 * Makes up to four changes. If attributes are among them, all files are written again: git looks at a file that did not
 * change only if its index is no older, by the second. So what the new attributes do to it would depend on the time.
 */
function changeSome(folder: string, next: () => number): void {
  const before = attributesIn(folder);
  for (let n = Math.floor(next() * 4); n >= 0; n--) change(folder, next);
  if (attributesIn(folder) === before) return;
  for (const path of filesIn(folder)) writeFileSync(path, readFileSync(path));
}

function attributesIn(folder: string): string {
  const all = filesIn(folder).filter((path) => path.endsWith('.gitattributes'));
  return all.map((path) => `${path}\0${readFileSync(path, 'latin1')}`).join('\0');
}

/** The files of a folder without its `.git`. No link is followed, which a recursive `readdirSync` does. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === '.git' ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
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
