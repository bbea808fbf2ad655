import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyIgnored, makeParents } from '../../src/workspaces/clone/copy.ts';
import { makeDotGit, replaceHead } from '../../src/workspaces/clone/dot-git.ts';
import { clearPlace, isInPlace, requireInPlace } from '../../src/workspaces/clone/in-place.ts';
import { moveToTrash, requireFree } from '../../src/workspaces/clone/in-the-way.ts';
import { openIndex } from '../../src/workspaces/clone/index-file.ts';
import { replaceBase } from '../../src/workspaces/clone/lost-base.ts';
import { findAttributes, MATTERS } from '../../src/workspaces/clone/plain-attributes.ts';
import { openPlainFiles } from '../../src/workspaces/clone/plain-file.ts';
import { addSteps, saveQuickly } from '../../src/workspaces/clone/quick-save.ts';
import type { QuickSave } from '../../src/workspaces/clone/quick-save.ts';
import { filesIn, readCopied, readState, writeState } from '../../src/workspaces/clone/state.ts';
import type { Depot } from '../../src/workspaces/depot.ts';
import { compare } from '../../src/workspaces/depot/compare.ts';
import { makeSave, savesRef } from '../../src/workspaces/depot/saves.ts';
import { GitError } from '../../src/workspaces/git-errors.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import { plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

/** A folder of a member with these files, and its index. */
async function openFolder(
  files: Record<string, string> = { 'a.txt': 'a\n', 'b/c.txt': 'c\n' },
  format: 'sha1' | 'sha256' = 'sha1',
) {
  const bare = await openBare({ format });
  const folder = join(bare.places.workspaces, 'alpha/ada');
  const about = join(bare.places.indexes, 'alpha/ada');
  for (const path of [folder, about]) mkdirSync(path, { recursive: true });
  const { index } = filesIn(folder, about);
  const place = { dir: bare.dir, index, tree: folder };
  const base = await bare.commit(files, { ref: 'refs/checkout/heads/main' });
  await bare.git.run(place, ['read-tree', '-m', '-u', base]);
  return { ...bare, folder, about, index, place, base };
}

describe('the .git of a folder', () => {
  test('is an ordinary repository at the base, with the branches and ignored patterns of the user', async () => {
    const { handle, places, dir, folder, index, base, commit } = await openFolder(undefined, 'sha256');
    const tip = await commit({}, { parents: [base], ref: 'refs/checkout/tags/v1' });
    write(dir, { 'info/exclude': '*.own\n', shallow: `${base}\n` });
    const dotGit = { handle, places, checkout: { format: 'sha256' as const }, index, base };
    await makeDotGit(folder, dotGit);
    write(folder, { 'x.own': 'x' });
    expect(plainGit(folder, 'status', '--porcelain')).toBe('');
    expect(plainGit(folder, 'rev-parse', 'HEAD', 'origin/main', 'v1').split('\n')).toEqual([base, base, tip]);
    expect(readFileSync(join(folder, '.git/shallow'), 'utf8')).toBe(`${base}\n`);
    // It can be worked in as in any other.
    plainGit(folder, 'checkout', '-qb', 'mine');
    write(folder, { 'new.txt': 'new\n' });
    plainGit(folder, 'add', '.');
    plainGit(folder, 'commit', '-qm', 'mine');
    expect(plainGit(folder, 'reflog', 'mine')).not.toBe('');
    plainGit(folder, 'stash', 'list');

    // A merge in progress belongs to the old base.
    write(folder, {
      '.git/MERGE_HEAD': tip,
      '.git/rebase-merge/x': 'x',
      '.git/index.lock': '',
      '.git/own-note': 'kept',
    });
    rmSync(join(folder, '.git/HEAD'));
    symlinkSync(join(dir, 'HEAD'), join(folder, '.git/HEAD'));
    const before = readFileSync(join(dir, 'HEAD'), 'utf8');
    await replaceHead(folder, { ...dotGit, base: tip });
    expect(readFileSync(join(dir, 'HEAD'), 'utf8')).toBe(before);
    expect(plainGit(folder, 'rev-parse', 'HEAD')).toBe(tip);
    expect(plainGit(folder, 'status', '--porcelain')).toBe('?? new.txt');
    for (const name of ['MERGE_HEAD', 'rebase-merge', 'index.lock']) {
      expect(existsSync(join(folder, '.git', name)), name).toBe(false);
    }
    expect(existsSync(join(folder, '.git/own-note'))).toBe(true);
    expect(readdirSync(places.making)).toEqual([]);
    // A file cannot replace a folder: that goes to the trash.
    for (const name of ['HEAD', 'index']) {
      rmSync(join(folder, '.git', name));
      write(folder, { [`.git/${name}/x`]: 'x' });
    }
    await replaceHead(folder, dotGit);
    expect(plainGit(folder, 'rev-parse', 'HEAD')).toBe(base);
    expect(readdirSync(places.trash).map((name) => name.replace(/^\d+-|-\w+$/g, ''))).toEqual(['git', 'git']);
    // As a file, or gone, it is made again.
    rmSync(join(folder, '.git'), { recursive: true });
    await replaceHead(folder, dotGit);
    rmSync(join(folder, '.git'), { recursive: true });
    writeFileSync(join(folder, '.git'), 'gitdir: /etc\n');
    await replaceHead(folder, dotGit);
    expect(plainGit(folder, 'rev-parse', 'HEAD')).toBe(base);
    expect(readdirSync(places.trash)).toHaveLength(3);
    rmSync(folder, { recursive: true });
    await expect(replaceHead(folder, dotGit)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is of the old form where ids are short, and has no history that the depot does not have', async () => {
    const { handle, places, folder, index, base } = await openFolder();
    await makeDotGit(folder, { handle, places, checkout: { format: 'sha1' }, index, base });
    expect(plainGit(folder, 'config', 'core.repositoryformatversion')).toBe('0');
    expect(plainGit(folder, 'config', 'core.bare')).toBe('false');
    expect(existsSync(join(folder, '.git/shallow'))).toBe(false);
    expect(plainGit(folder, 'fsck')).toBe('');
  });
});

describe('the index of a folder', () => {
  test('is made again from a tree that is whole, if it is missing or damaged, and not for other reasons', async () => {
    const { git, dir, folder, index, base, commit } = await openFolder();
    const file = openIndex({ git, dir, index, folder });
    const tree = await file.writeTree();
    const sign = await file.sign();
    expect(await file.sign()).toBe(sign);
    await file.ensureWhole([]);
    expect(await file.sign()).toBe(sign);
    writeFileSync(`${index}.lock`, '');
    await file.unlock();
    await file.unlock();
    expect(existsSync(`${index}.lock`)).toBe(false);
    const gone = '1'.repeat(40);
    for (const harm of [
      () => rmSync(index),
      () => writeFileSync(index, ''),
      () => writeFileSync(index, 'x'.repeat(100)),
      () => flip(index),
    ]) {
      harm();
      await expect(file.ensureWhole([gone])).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringContaining(`${index} is damaged`),
      });
      rmSync(index, { force: true });
      await file.ensureWhole([gone, base]);
      expect(await file.writeTree()).toBe(tree);
    }
    rmSync(index);
    expect(await file.sign()).toBe('none');
    const corrupt = new GitError('corrupt', 'x', { complaint: '' });
    await expect(file.makeAgain(corrupt, [gone])).rejects.toBe(corrupt);
    const other = new GitError('storage', 'x', { complaint: '' });
    await expect(file.makeAgain(other, [base])).rejects.toBe(other);
    const odd = Object.assign(new Error('x'), { code: 'corrupt' });
    await expect(file.makeAgain(odd, [base])).rejects.toBe(odd);
    await file.makeAgain(corrupt, [gone, base]);
    expect(await file.writeTree()).toBe(tree);
    const later = await commit({ 'a.txt': 'A\n' }, { parents: [base] });
    expect(await file.compare(later)).toEqual({ tree, changes: [expect.objectContaining({ status: 'modified' })] });
    expect(await file.compare(base)).toEqual({ tree, changes: [] });
    await expect(file.compare(gone)).rejects.toThrow();
    await expect(file.compare('HEAD')).rejects.toMatchObject({ code: 'invalid' });
  });

  test('that is replaced is kept beside until it is forgotten', async () => {
    const { git, dir, folder, index, about } = await openFolder();
    const file = openIndex({ git, dir, index, folder });
    const kept = () => readdirSync(about).filter((name) => name.startsWith('tmp_'));
    await file.keep();
    await file.keep();
    expect(kept()).toHaveLength(2);
    expect(statSync(index).nlink).toBe(3);
    file.forget();
    await expect.poll(kept).toEqual([]);
    rmSync(index);
    await file.keep();
    expect(kept()).toEqual([]);
  });

  test('is written again once its second is over, and once only', async () => {
    const { git, dir, folder, index } = await openFolder();
    const file = openIndex({ git, dir, index, folder });
    const set = (seconds: number) => utimesSync(index, seconds, seconds);
    // As if it were written now.
    set(Math.floor(Date.now() / 1000) + 5);
    const young = await file.sign();
    await file.settle();
    expect(await file.sign()).toBe(young);
    set(Math.floor(Date.now() / 1000) - 5);
    const old = await file.sign();
    await file.settle();
    const settled = await file.sign();
    expect(settled).not.toBe(old);
    set(Math.floor(Date.now() / 1000) - 5);
    const again = await file.sign();
    await file.settle();
    expect(await file.sign()).toBe(again);
    file.unsettle();
    await file.settle();
    expect(await file.sign()).not.toBe(again);
    file.unsettle();
    writeFileSync(index, 'nonsense');
    set(1);
    await expect(file.settle()).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('begins from another base if the depot lost the one that it had; then everything else counts as changed', async () => {
    const { handle, folder, about, place, git, base, commit } = await openFolder();
    const other = await commit({ 'a.txt': 'other\n' });
    write(folder, { 'new.txt': 'new\n' });
    const depot = { handle } as Depot;
    const state = { depot: 'd', base, carries: base, tasks: ['1'], prepared: 'npm ci' };
    expect(await replaceBase({ depot, folder, about }, state, other)).toEqual({
      depot: 'd',
      base: other,
      prepared: 'npm ci',
    });
    expect(await readState(filesIn(folder, about).state)).toEqual({ depot: 'd', base: other, prepared: 'npm ci' });
    expect(await replaceBase({ depot, folder, about }, { depot: 'd', base }, other)).toEqual({
      depot: 'd',
      base: other,
    });
    expect((await git.run(place, ['ls-files'])).out.toString()).toBe('a.txt\n');
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a\n');
  });
});

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[40]! ^= 0xff;
  writeFileSync(path, bytes);
}

describe('what is known of a folder', () => {
  test('is read as it was written, or not at all', async () => {
    const about = temporaryFolder();
    const { state, copied } = filesIn('/folder', about);
    expect(await readState(state)).toBeUndefined();
    expect([...(await readCopied(copied))]).toEqual([]);
    const known = {
      depot: 'd',
      base: 'a'.repeat(40),
      moving: { to: 'b'.repeat(40), base: 'c'.repeat(64) },
      tasks: ['1'],
    };
    await writeState(state, known);
    expect(await readState(state)).toEqual(known);
    expect(statSync(state).mode & 0o777).toBe(0o600);
    expect(readdirSync(about)).toEqual(['state.json']);
    for (const text of ['', '{', '{}', '{"depot":"d","base":"HEAD"}']) {
      writeFileSync(state, text);
      expect(await readState(state)).toBeUndefined();
    }
    writeFileSync(copied, Buffer.from('.env\0caf\xe9\0', 'latin1'));
    expect([...(await readCopied(copied))]).toEqual(['.env', 'caf\xe9']);
  });

  test('is where it is, and whether that is a real folder', async () => {
    const root = temporaryFolder();
    const places = await openPlaces(root, { endLeftovers: async () => {} });
    const folder = join(places.workspaces, 'alpha/ada');
    expect(await isInPlace(folder)).toBe(false);
    await clearPlace(places, folder, 'alpha.ada');
    mkdirSync(folder, { recursive: true });
    expect(await isInPlace(folder)).toBe(true);
    await requireInPlace(folder);
    await clearPlace(places, folder, 'alpha.ada');
    expect(await isInPlace(folder)).toBe(true);
    rmSync(folder, { recursive: true });
    symlinkSync(root, folder);
    expect(await isInPlace(folder)).toBe(false);
    await expect(requireInPlace(folder)).rejects.toMatchObject({
      code: 'conflict',
      message: `${folder} was removed or replaced by something else meanwhile: try again`,
    });
    await clearPlace(places, folder, 'alpha.ada');
    expect(existsSync(folder)).toBe(false);
    const [put = ''] = readdirSync(places.trash);
    expect(put).toContain('alpha.ada');
    expect(readlinkSync(join(places.trash, put))).toBe(root);
    rmSync(dirname(folder), { recursive: true });
    writeFileSync(dirname(folder), 'a file');
    expect(await isInPlace(folder)).toBe(false);
    await clearPlace(places, folder, 'alpha.ada');
    expect(existsSync(dirname(folder))).toBe(false);
    // Behind any other error there may be work.
    await expect(isInPlace(join(places.workspaces, 'x'.repeat(300), 'ada'))).rejects.toMatchObject({ code: 'storage' });
  });

  test('that is in the way is refused with its names, or moved away with its paths', async () => {
    const { places } = await openBare();
    const folder = temporaryFolder();
    const paths = Array.from({ length: 7 }, (_, at) => `d${at}/x.log`);
    write(folder, Object.fromEntries(paths.map((path) => [path, path])));
    const changes = (some: readonly string[]) =>
      some.map((path) => ({
        path: Buffer.from(path),
        status: 'added' as const,
        oldMode: '',
        newMode: '',
        oldId: '',
        newId: '',
      }));
    const quoted = paths
      .slice(0, 5)
      .map((path) => JSON.stringify(path))
      .join(', ');
    const rest = `in ${folder} would be overwritten, and no save has them: move or remove them first`;
    await expect(requireFree(folder, changes(paths))).rejects.toMatchObject({
      code: 'conflict',
      message: `${quoted} and 2 more ${rest}`,
    });
    await expect(requireFree(folder, changes(paths.slice(0, 5)))).rejects.toThrow(`${quoted} ${rest}`);
    await requireFree(folder, changes(['free.txt']));
    await moveToTrash(folder, [], { places, label: 'alpha.ada' });
    expect(readdirSync(places.trash)).toEqual([]);
    await moveToTrash(
      folder,
      paths.slice(0, 2).map((path) => Buffer.from(path)),
      { places, label: 'alpha.ada' },
    );
    const [trash = ''] = readdirSync(places.trash);
    expect(trash).toMatch(/^\d{13}-alpha\.ada-/);
    expect(readFileSync(join(places.trash, trash, 'd1/x.log'), 'utf8')).toBe('d1/x.log');
    expect(existsSync(join(folder, 'd1/x.log'))).toBe(false);
  });
});

describe('ignored files of a checkout', () => {
  test('are copied as they are, or named with the reason', async () => {
    const { handle, places, folder, index } = await openFolder({ '.gitignore': '*.log\n/own/\n.env\n' });
    const checkout = { folder: temporaryFolder() };
    const copy = (patterns: readonly string[]) => copyIgnored({ handle, places, checkout, folder, index, patterns });
    expect(await copy([])).toEqual({ copied: [], notCopied: [] });
    write(checkout.folder, {
      '.gitignore': '*.log\n/own/\n.env\n',
      '.env': 'KEY',
      'a.log': 'a',
      'own/x/y': 'y',
      'd.log/z': 'z',
      'e.log': 'e',
      'loose.txt': 'x',
      'r.log/.git/HEAD': 'ref: refs/heads/x\n',
      'r.log/.git/objects/x': '',
      'r.log/.git/refs/x': '',
    });
    symlinkSync('.env', join(checkout.folder, 'l.log'));
    write(folder, { 'e.log': 'mine', 'd.log': 'in the way' });
    const { copied, notCopied } = await copy(['/own/', '*.log', '.env', 'loose.txt', 'missing/', '!x', '/gone.txt']);
    expect([...copied].sort()).toEqual(['.env', 'a.log', 'own/x/y']);
    expect(Object.fromEntries(notCopied.map(({ path, reason }) => [path, reason]))).toEqual({
      'd.log/z': 'a file or a link of the project is in the way',
      'e.log': 'a file of the project is in its place',
      'l.log': 'it is a symbolic link',
      'loose.txt': 'it is not ignored, so every save would have it',
      'r.log/': 'it is a repository of its own',
      missing: 'it is not there',
      'gone.txt': 'it is not there',
    });
    expect(readFileSync(join(folder, 'e.log'), 'utf8')).toBe('mine');
    expect(readFileSync(join(folder, 'own/x/y'), 'utf8')).toBe('y');
    expect(readdirSync(places.making)).toEqual([]);
    write(checkout.folder, { '.worktreeinclude': 'b.log', 'b.log': 'b' });
    expect(await copy([])).toEqual({ copied: ['b.log'], notCopied: [] });
    rmSync(checkout.folder, { recursive: true });
    expect(await copy(['.env'])).toEqual({
      copied: [],
      notCopied: [{ path: '.env', reason: 'the checkout is not in its place' }],
    });
    mkdirSync(checkout.folder);
  });

  test('get their folders, but never through a link', async () => {
    const folder = temporaryFolder();
    const far = temporaryFolder();
    symlinkSync(far, join(folder, 'link'));
    write(folder, { file: 'x' });
    expect(await makeParents(folder, Buffer.from('a/b/c.txt'))).toBe(true);
    expect(await makeParents(folder, Buffer.from('a/b/d.txt'))).toBe(true);
    expect(lstatSync(join(folder, 'a/b')).isDirectory()).toBe(true);
    expect(existsSync(join(folder, 'a/b/c.txt'))).toBe(false);
    expect(await makeParents(folder, Buffer.from('top.txt'))).toBe(true);
    expect(await makeParents(folder, Buffer.from('link/x/y'))).toBe(false);
    expect(await makeParents(folder, Buffer.from('file/x'))).toBe(false);
    expect(readdirSync(far)).toEqual([]);
  });
});

describe('attributes of a file', () => {
  test('matter if they may convert more than the ends of lines, in any folder above it', () => {
    const folder = join(temporaryFolder(), 'alpha/ada');
    const dir = temporaryFolder();
    write(folder, {
      'lines/.gitattributes': '*.txt text eol=lf\n',
      'lines/filter/.gitattributes': '*.bin filter=lfs\n',
      'lines/filter/deep/.gitattributes': '* text\n',
      'ident/.gitattributes': '* ident\n',
      'none/x': '',
      'large/.gitattributes': `* text\n${'#'.repeat(64 * 1024)}`,
      'folder/.gitattributes/x': '',
    });
    mkdirSync(join(folder, 'link'));
    symlinkSync('../lines/.gitattributes', join(folder, 'link/.gitattributes'));
    const of = findAttributes(openPlainFiles(folder), dir);
    const found = [
      'top',
      'none/x',
      'lines/x',
      'lines/y',
      'lines/filter/x',
      'lines/filter/deep/x',
      'ident/x',
      'large/x',
      'link/x',
      'folder/x',
    ].map(of);
    expect(found).toEqual([
      undefined,
      undefined,
      'lines',
      'lines',
      MATTERS,
      MATTERS,
      MATTERS,
      MATTERS,
      MATTERS,
      MATTERS,
    ]);
    write(dir, { 'info/attributes': '* text\n' });
    expect(findAttributes(openPlainFiles(folder), dir)('none/x')).toBe(MATTERS);
    write(folder, { '.gitattributes': '* text\n' });
    rmSync(join(dir, 'info'), { recursive: true });
    expect(findAttributes(openPlainFiles(folder), dir)('none/x')).toBe('lines');
  });
});

describe('a quick save', () => {
  /** A folder with a first save, and what saves these of its files quickly. */
  async function openSaved(format: 'sha1' | 'sha256' = 'sha1') {
    const bare = await openFolder(undefined, format);
    const { handle, folder, base } = bare;
    const tree = await handle.treeOf(base);
    const last = await makeSave(handle, { name: ADA, tree, base, last: undefined, at: 1_700_000_000_000 });
    const blob = async (path: string) => (await handle.run(['rev-parse', `${base}:${path}`])).out.toString().trim();
    const known = new Map([
      ['a.txt', await blob('a.txt')],
      ['b/c.txt', await blob('b/c.txt')],
    ]);
    const save = (paths: readonly string[], gone: readonly string[] = [], more: Partial<QuickSave> = {}) => {
      const files = paths.map((path) => ({
        path: Buffer.from(path),
        size: lstatSync(join(folder, path)).size,
        changedAt: 0,
      }));
      const indexed = (path: Buffer) => {
        const oldId = known.get(path.toString());
        return oldId === undefined ? undefined : { oldMode: '100644', oldId };
      };
      const found = { files, gone: gone.map((path) => Buffer.from(path)), indexed, leftOut: [] };
      return saveQuickly({ handle, name: ADA, folder, last, changes: [], found, ...more });
    };
    return { ...bare, last, save };
  }

  test.for(['sha1', 'sha256'] as const)(
    'in a depot of %s has files, programs and links as they are, and says how it differs from the base',
    async (format) => {
      const { handle, folder, base, last, save } = await openSaved(format);
      write(folder, { 'a.txt': 'changed\n', 'new dir/n.txt': 'n\n', tool: 'tool\n', 'b/c.txt': 'c\n' });
      chmodSync(join(folder, 'tool'), 0o755);
      symlinkSync('a.txt', join(folder, 'link'));
      const saved = await save(['a.txt', 'new dir/n.txt', 'tool', 'link', 'b/c.txt']);
      const { commit, tree } = saved!.save;
      expect(await handle.readRef(savesRef(ADA))).toBe(commit);
      expect(saved!.changes).toEqual(await compare(handle, [base, tree]));
      expect(saved!.changes.map(({ path, status, newMode }) => `${path.toString()} ${status} ${newMode}`)).toEqual([
        'a.txt modified 100644',
        'link added 120000',
        'new dir/n.txt added 100644',
        'tool added 100755',
      ]);
      // Files that were written again as they were make no save.
      write(folder, { 'a.txt': 'a\n' });
      expect(await save(['a.txt', 'b/c.txt'], [], { last: saved!.save })).toEqual({ save: saved!.save, changes: [] });
      expect(last.commit).not.toBe(commit);
      // A file takes the place of a folder.
      rmSync(join(folder, 'b'), { recursive: true });
      write(folder, { b: 'b\n' });
      const next = await save(['b'], ['b/c.txt', 'never-there'], { last: saved!.save, changes: saved!.changes });
      expect(next!.changes).toEqual(await compare(handle, [base, next!.save.tree]));
      expect(next!.changes.map(({ path, status }) => `${path.toString()} ${status}`)).toEqual(
        expect.arrayContaining(['b added', 'b/c.txt deleted']),
      );
    },
  );

  test('is not made of what git may refuse, quote or convert', async () => {
    const { handle, dir, folder, save } = await openSaved();
    const before = await handle.readRef(savesRef(ADA));
    const not = async (path: string, content: string | Buffer = 'x\n', gone: string[] = []) => {
      write(folder, { [path]: content });
      expect(await save([path], gone), path).toBeUndefined();
      rmSync(join(folder, path));
    };
    for (const name of ['~', 'ü', '"q"', 'a\\b', 'a\tb', 'x/.gitx', '.GITmodules', 'a*b', '.git-x/y']) await not(name);
    await not('ok.txt', 'x\n', ['ü']);
    await not('large.bin', Buffer.alloc(4 * 1024 * 1024 + 1));
    write(folder, { 'many.txt': 'x\n' });
    expect(
      await save(
        ['many.txt'],
        Array.from({ length: 1_000 }, (_, at) => `f${at}`),
      ),
    ).toBeUndefined();
    expect(await handle.readRef(savesRef(ADA))).toBe(before);
    // A carriage return, where attributes or settings convert the ends of lines.
    write(folder, {
      'r.txt': 'x\r\n',
      'lines/.gitattributes': '* text\n',
      'lines/r.txt': 'x\r\n',
      'lines/n.txt': 'x\n',
      'ident/.gitattributes': '* ident\n',
      'ident/x': 'x\n',
    });
    expect(await save(['lines/r.txt'])).toBeUndefined();
    expect(await save(['ident/x'])).toBeUndefined();
    const config = readFileSync(join(dir, 'config'), 'utf8');
    for (const odd of [
      '[core]\n\tfilemode = false\n',
      '[core]\n\tsymlinks=false\n',
      '[core]\n\tsafecrlf = true\n',
      '[include]\n\tpath = x\n',
    ]) {
      writeFileSync(join(dir, 'config'), config.replace(/\tfilemode = true\n/, '') + odd);
      expect(await save(['many.txt']), odd).toBeUndefined();
    }
    for (const lines of ['[core]\n\tautocrlf = input\n', '[core]\n\teol = lf\n']) {
      writeFileSync(join(dir, 'config'), config + lines);
      expect(await save(['r.txt']), lines).toBeUndefined();
    }
    expect(await handle.readRef(savesRef(ADA))).toBe(before);
    writeFileSync(join(dir, 'config'), config);
    const fine = ['r.txt', 'lines/n.txt', 'many.txt', '.gitignore', '.github/x', 'a b!#$%&()+,-.:;=@[]^_`{}'];
    write(folder, { '.gitignore': '', '.github/x': 'x', [fine[5]!]: 'x' });
    const saved = await save(
      fine,
      Array.from({ length: 994 }, (_, at) => `f${at}`),
    );
    expect(saved!.changes.map(({ path }) => path.toString()).sort()).toEqual([...fine].sort());
  });

  test('knows how it differs from the base from how the last one did', () => {
    const change = (
      path: string,
      from: [string, string],
      to: [string, string],
      status: 'added' | 'modified' | 'deleted' | 'type-changed',
    ) => ({
      path: Buffer.from(path),
      status,
      oldMode: from[0],
      oldId: from[1],
      newMode: to[0],
      newId: to[1],
    });
    const step = (path: string, from: [string, string], to: [string, string]) => {
      const { status: _, ...rest } = change(path, from, to, 'added');
      return rest;
    };
    const none: [string, string] = ['000000', '0'];
    const file = (id: string): [string, string] => ['100644', id];
    const before = [
      change('m', file('1'), file('2'), 'modified'),
      change('new', none, file('3'), 'added'),
      change('gone', file('4'), none, 'deleted'),
    ];
    const found = addSteps(before, [
      step('m', file('2'), file('1')),
      step('new', file('3'), none),
      step('gone', none, ['120000', '5']),
      step('a', none, ['100755', '6']),
      step('b', file('7'), ['100755', '7']),
      step('c', file('8'), none),
    ]);
    expect(found).toEqual([
      change('a', none, ['100755', '6'], 'added'),
      change('b', file('7'), ['100755', '7'], 'modified'),
      change('c', file('8'), none, 'deleted'),
      change('gone', file('4'), ['120000', '5'], 'type-changed'),
    ]);
    expect(addSteps(before, []).map(({ path }) => path.toString())).toEqual(['gone', 'm', 'new']);
  });
});
