import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { listUncommitted, takeUncommitted } from '../../src/workspaces/depot/changes.ts';
import { makeCommit } from '../../src/workspaces/depot/commit.ts';
import { openHandle } from '../../src/workspaces/depot/handle.ts';
import { makeDepot, takeIn } from '../../src/workspaces/depot/make.ts';
import { checkDepot, remakeDepot } from '../../src/workspaces/depot/repair.ts';
import { makeSave } from '../../src/workspaces/depot/saves.ts';
import { openGit } from '../../src/workspaces/git.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import type { Save } from '../../src/workspaces/workspace.ts';
import { commitAll, newProject, plainGit, write } from './project.ts';

/** A repository of a user, where its depot will be, and what the depot's refs are. */
async function openProject() {
  const root = newProject();
  const folder = join(root, 'project');
  const places = await openPlaces(join(root, 'state'), { endLeftovers: async () => {} });
  const dir = join(places.depots, 'a.git');
  const git = openGit({ environment: { PATH: process.env['PATH'], HOME: root } });
  const checkout: Checkout = {
    folder,
    gitDir: join(folder, '.git'),
    commonDir: join(folder, '.git'),
    head: plainGit(folder, 'rev-parse', 'HEAD'),
    branch: 'main',
    format: 'sha1',
    isShallow: false,
    isPartial: false,
    settings: [],
    person: undefined,
    ignored: '',
  };
  const refs = () =>
    Object.fromEntries(
      plainGit(dir, 'for-each-ref', '--format=%(refname) %(objectname)')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ')),
    );
  const objectPath = (id: string) => join(folder, '.git/objects', id.slice(0, 2), id.slice(2));
  return { root, folder, places, dir, git, checkout, handle: openHandle(git, dir), refs, objectPath };
}

describe('a depot that is made from a checkout', () => {
  test('has its branches, tags, objects and settings, and nothing else; git removes nothing there', async () => {
    const { folder, dir, git, checkout, refs } = await openProject();
    const { head } = checkout;
    plainGit(folder, 'tag', 'v1');
    plainGit(folder, 'update-ref', 'refs/remotes/origin/x', head);
    const objects = join(folder, '.git/objects');
    write(objects, {
      'zz/odd': 'x',
      ['1'.repeat(39)]: 'x',
      'pack/tmp_pack_1': 'x',
      'pack/notes.txt': 'x',
      '12/short': 'x',
      ee: 'a file',
    });
    await makeDepot(git, dir, {
      ...checkout,
      ignored: '*.own\n',
      settings: ['core.autocrlf=true', 'core.eol=lf', 'core.autocrlf=input'],
    });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(refs()).toEqual({
      'refs/checkout/HEAD': head,
      'refs/checkout/heads/main': head,
      'refs/checkout/tags/v1': head,
    });
    expect(readFileSync(join(dir, 'info/exclude'), 'utf8')).toBe('*.own\n');
    expect(existsSync(join(dir, 'no-tree'))).toBe(true);
    expect(statSync(join(dir, 'objects', head.slice(0, 2), head.slice(2))).nlink).toBe(2);
    for (const odd of ['zz', '1'.repeat(39), 'ee', 'pack/tmp_pack_1', 'pack/notes.txt', '12/short']) {
      expect(existsSync(join(dir, 'objects', odd)), odd).toBe(false);
    }
    expect(plainGit(dir, 'config', '--get-all', 'core.autocrlf')).toBe('input');
    expect(plainGit(dir, 'config', 'core.eol')).toBe('lf');
    expect(() => plainGit(dir, 'prune')).toThrow('precious-objects');
    expect(() => plainGit(dir, 'repack', '-d')).toThrow('precious-objects');
  });

  test('follows it later: new commits, moved and removed branches, new settings; its own refs stay', async () => {
    const { folder, dir, git, checkout, handle, refs } = await openProject();
    const { head } = checkout;
    plainGit(folder, 'branch', 'side');
    await makeDepot(git, dir, checkout);
    await handle.changeRefs([
      { ref: `refs/checkout/changes/${head}`, to: head },
      { ref: 'refs/heads/troupe/x', to: head },
    ]);
    write(folder, { 'new.txt': 'new\n' });
    const next = commitAll(folder);
    plainGit(folder, 'branch', '-D', 'side');
    plainGit(folder, 'tag', 'v2');
    const own = { [`refs/checkout/changes/${head}`]: head, 'refs/heads/troupe/x': head };
    const wanted = {
      'refs/checkout/HEAD': next,
      'refs/checkout/heads/main': next,
      'refs/checkout/tags/v2': next,
      ...own,
    };
    const now = { ...checkout, head: next, ignored: 'later\n', settings: ['core.eol=crlf'] };
    await takeIn(handle, { ...now, isAbsent: true });
    expect(refs()['refs/checkout/HEAD']).toBe(head);
    expect(readFileSync(join(dir, 'info/exclude'), 'utf8')).toBe('');
    await takeIn(handle, now);
    expect(refs()).toEqual(wanted);
    expect(readFileSync(join(dir, 'info/exclude'), 'utf8')).toBe('later\n');
    expect(plainGit(dir, 'config', 'core.eol')).toBe('crlf');
    expect(existsSync(join(dir, 'FETCH_HEAD'))).toBe(false);
    expect(plainGit(dir, 'fsck')).toBe('');
    // A history that was written again.
    plainGit(folder, 'commit', '-q', '--amend', '-m', 'other');
    const other = plainGit(folder, 'rev-parse', 'HEAD');
    await takeIn(handle, { ...now, head: other });
    expect(refs()).toMatchObject({ 'refs/checkout/HEAD': other, 'refs/checkout/heads/main': other });
  });

  test('of a partial clone gets what is here by files, and says which command completes it', async () => {
    const { folder, dir, git, checkout, handle, refs, objectPath } = await openProject();
    const { head } = checkout;
    plainGit(folder, 'branch', 'side');
    await makeDepot(git, dir, { ...checkout, isPartial: true });
    await handle.changeRefs([{ ref: `refs/checkout/changes/${head}`, to: head }]);
    write(folder, { 'new.txt': 'new\n' });
    const next = commitAll(folder);
    plainGit(folder, 'branch', '-D', 'side');
    await takeIn(handle, { ...checkout, head: next, isPartial: true });
    expect(refs()).toEqual({
      'refs/checkout/HEAD': next,
      'refs/checkout/heads/main': next,
      [`refs/checkout/changes/${head}`]: head,
    });
    write(folder, { 'last.txt': 'last\n' });
    const last = commitAll(folder);
    rmSync(objectPath(plainGit(folder, 'rev-parse', 'HEAD:last.txt')));
    await expect(takeIn(handle, { ...checkout, head: last, isPartial: true })).rejects.toMatchObject({
      code: 'conflict',
      message: `${folder} is a partial clone, and files of its current commit are not on this machine. Run: git -C ${JSON.stringify(folder)} fetch --refetch --no-filter`,
    });
    expect(refs()['refs/checkout/HEAD']).toBe(next);
  });

  test('is whole, also if objects of the checkout are elsewhere; a shallow one stays so', async () => {
    const { root, folder, dir, git, checkout, handle } = await openProject();
    const borrowing = join(root, 'borrowing');
    plainGit(root, 'clone', '-q', '--shared', folder, borrowing);
    const common = join(borrowing, '.git');
    await makeDepot(git, dir, { ...checkout, folder: borrowing, gitDir: common, commonDir: common });
    expect(plainGit(dir, 'fsck')).toBe('');
    expect(existsSync(join(dir, 'objects/info/alternates'))).toBe(false);
    expect(await handle.readRef('refs/checkout/HEAD')).toBe(checkout.head);
    const other = join(root, 'state/depots/b.git');
    write(folder, { '.git/shallow': `${checkout.head}\n` });
    await makeDepot(git, other, { ...checkout, isShallow: true });
    expect(readFileSync(join(other, 'shallow'), 'utf8')).toBe(`${checkout.head}\n`);
  });
});

/** A folder on another disk than temporary files are on; undefined if there is none. */
function folderElsewhere(): string | undefined {
  const found = ['/dev/shm', '/var/tmp', import.meta.dirname].find(
    (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
  );
  if (found === undefined) return undefined;
  const folder = mkdtempSync(join(found, 'troupe-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a depot on another disk than the checkout has copies of its objects', async (context) => {
  const elsewhere = folderElsewhere();
  if (elsewhere === undefined) return context.skip('this machine has only one disk');
  const { git, checkout, handle, dir } = await openProject();
  const other = join(elsewhere, 'a.git');
  // Nothing of a partial clone can be fetched.
  await makeDepot(git, other, { ...checkout, isPartial: true });
  const path = join(other, 'objects', checkout.head.slice(0, 2), checkout.head.slice(2));
  expect(statSync(path).nlink).toBe(1);
  expect(plainGit(other, 'fsck')).toBe('');
  // What is there already stays as it is.
  await makeDepot(git, dir, checkout);
  await takeIn(handle, { ...checkout, isPartial: true });
  expect(plainGit(dir, 'fsck')).toBe('');
});

describe('what the user has not committed', () => {
  test('is listed by path and committed in the depot alone, as it is in the folder', async () => {
    const { folder, dir, git, checkout, places, handle, refs } = await openProject();
    await makeDepot(git, dir, checkout);
    const options = { checkout, filters: new Set<string>() };
    expect(await listUncommitted(handle, places, checkout)).toEqual([]);
    expect(await takeUncommitted(handle, places, options)).toEqual({ commit: checkout.head, changes: [], leftOut: [] });
    write(folder, {
      'src/a.ts': 'changed\n',
      'z new.txt': 'new\n',
      'b/new.txt': 'new\n',
      'x.log': 'ignored\n',
      'y.log': 'staged\n',
      'gone.txt': 'x\n',
      'turned/x': 'x\n',
    });
    rmSync(join(folder, 'docs'), { recursive: true });
    plainGit(folder, 'add', '-f', 'y.log', 'gone.txt', 'turned/x', 'b/new.txt');
    rmSync(join(folder, 'gone.txt'));
    write(folder, { 'large.bin': 'x'.repeat(2_000) });
    const before = readFileSync(join(folder, '.git/index'));
    const expected = [
      { path: 'b/new.txt', status: 'added' },
      { path: 'docs/guide.md', status: 'deleted' },
      { path: 'large.bin', status: 'added' },
      { path: 'src/a.ts', status: 'modified' },
      { path: 'turned/x', status: 'added' },
      { path: 'y.log', status: 'added' },
      { path: 'z new.txt', status: 'added' },
    ];
    expect(await listUncommitted(handle, places, checkout)).toEqual(expected);
    const limits = { fileSize: 1_000, workSize: 100_000 };
    const taken = await takeUncommitted(handle, places, { ...options, limits });
    expect(taken.changes).toEqual(expected.filter(({ path }) => path !== 'large.bin'));
    expect(taken.leftOut).toEqual([{ path: 'large.bin', reason: 'file-size', detail: '2000 bytes' }]);
    expect(plainGit(dir, 'log', '-1', '--format=%an <%ae> %s %P', taken.commit)).toBe(
      `Troupe <troupe@troupe.invalid> Uncommitted changes ${checkout.head}`,
    );
    expect(refs()[`refs/checkout/changes/${taken.commit}`]).toBe(taken.commit);
    expect(readFileSync(join(folder, '.git/index')).equals(before)).toBe(true);
    expect(readdirSync(places.making)).toEqual([]);
    const person = { name: 'Ada', email: 'ada@example.com' };
    const ofAda = await takeUncommitted(handle, places, { ...options, checkout: { ...checkout, person } });
    expect(plainGit(dir, 'log', '-1', '--format=%an <%ae>', ofAda.commit)).toBe('Ada <ada@example.com>');
    // The user's index may be damaged, or split in two files: then all is compared in full.
    for (const index of ['', 'nonsense']) {
      writeFileSync(join(folder, '.git/index'), index);
      expect((await listUncommitted(handle, places, checkout)).map(({ path }) => path)).toEqual([
        'b/new.txt',
        'docs/guide.md',
        'large.bin',
        'src/a.ts',
        'turned/x',
        'z new.txt',
      ]);
    }
  });

  test('is not what only looks changed, a submodule, or a file that a sparse checkout leaves out', async () => {
    const { folder, dir, git, checkout: first, places } = await openProject();
    plainGit(folder, 'update-index', '--add', '--cacheinfo', `160000,${first.head},libs/sub`);
    plainGit(folder, 'commit', '-qm', 'submodule');
    const checkout = { ...first, head: plainGit(folder, 'rev-parse', 'HEAD') };
    await makeDepot(git, dir, checkout);
    const handle = openHandle(git, dir);
    plainGit(folder, 'update-index', '--skip-worktree', 'src/b.ts');
    rmSync(join(folder, 'src/b.ts'));
    write(folder, { 'libs/sub/inside': 'x\n', 'README.md': 'A project\n' });
    mkdirSync(join(folder, 'empty'));
    expect(await listUncommitted(handle, places, checkout)).toEqual([]);
    expect((await takeUncommitted(handle, places, { checkout, filters: new Set() })).commit).toBe(checkout.head);
    // A failure leaves nothing.
    await expect(listUncommitted(handle, places, { ...checkout, head: '1'.repeat(40) })).rejects.toThrow();
    expect(readdirSync(places.making)).toEqual([]);
  });

  test('is refused while files have conflicts; the first ten are named', async () => {
    const { folder, dir, git, checkout, places, handle } = await openProject();
    await makeDepot(git, dir, checkout);
    const blob = plainGit(folder, 'rev-parse', 'HEAD:README.md');
    const names = Array.from({ length: 11 }, (_, at) => `c${String.fromCharCode(97 + at)}.txt`);
    const input = names.flatMap((name) => [1, 2].map((stage) => `100644 ${blob} ${stage}\t${name}\n`)).join('');
    execFileSync('git', ['update-index', '--index-info'], { cwd: folder, input });
    await expect(takeUncommitted(handle, places, { checkout, filters: new Set() })).rejects.toMatchObject({
      code: 'conflict',
      message: `Your checkout has conflicts that are not resolved, in ${names.slice(0, 10).join(', ')}: resolve them and run git add, or leave out --with-changes`,
    });
  });
});

describe('a damaged depot', () => {
  test('is made again from the checkout, with all work that can be read', async () => {
    const { dir, git, checkout, places, handle } = await openProject();
    const { head } = checkout;
    await makeDepot(git, dir, checkout);
    expect(await checkDepot(handle)).toEqual([]);
    const blob = async (input: string) =>
      (await handle.run(['hash-object', '-w', '--stdin'], { input })).out.toString().trim();
    const treeOf = async (text: string) =>
      (await handle.run(['mktree'], { input: `100644 blob ${await blob(text)}\tx\n` })).out.toString().trim();
    const harm = (id: string) => {
      const path = join(dir, 'objects', id.slice(0, 2), id.slice(2));
      rmSync(path);
      writeFileSync(path, 'x'.repeat(40));
    };
    const saves = async (member: string, texts: readonly string[]): Promise<Save[]> => {
      const made: Save[] = [];
      for (const [at, text] of texts.entries()) {
        const name = { team: 'alpha', member };
        const tree = await treeOf(`${member} ${text}`);
        made.push(
          await makeSave(handle, { name, tree, base: head, last: made.at(-1), at: 1_700_000_000_000 + 1_000 * at }),
        );
      }
      return made;
    };
    const landed = async (parent: string, text: string) =>
      makeCommit(handle, {
        tree: await treeOf(text),
        parents: [parent],
        message: text,
        author: { name: 'A', email: 'a' },
        at: 0,
      });
    const [whole, half, none] = [
      await saves('whole', ['1', '2']),
      await saves('half', ['1', '2', '3']),
      await saves('none', ['1']),
    ];
    const one = await landed(head, 'one');
    const two = await landed(one, 'two');
    const only = await landed(head, 'only');
    const kept = `refs/kept/alpha/whole/${whole[0]!.commit}`;
    await handle.changeRefs([
      { ref: 'refs/heads/troupe/a', to: two },
      { ref: 'refs/deleted/b/1', to: only },
      { ref: kept, to: whole[0]!.commit },
      { ref: 'refs/earlier/alpha/whole/x', to: whole[0]!.commit },
      { ref: `refs/checkout/changes/${one}`, to: one },
      { ref: 'refs/placed/troupe/a', to: two },
    ]);
    write(dir, { 'lfs/objects/ab/cd/x': 'large' });
    for (const id of [
      half[1]!.tree,
      half[2]!.tree,
      none[0]!.tree,
      await handle.treeOf(two),
      await handle.treeOf(only),
    ]) {
      harm(id);
    }
    const said = await checkDepot(handle);
    expect(said.join('\n')).toContain('is corrupt');
    expect(said.every((line) => line !== '' && !/^(?:notice|warning)/.test(line))).toBe(true);

    const { lost, trash } = await remakeDepot(git, { dir, places, checkout });
    expect([...lost].sort((a, b) => (a.ref < b.ref ? -1 : 1))).toStrictEqual([
      { ref: 'refs/deleted/b/1' },
      { ref: 'refs/heads/troupe/a', instead: one },
      { ref: 'refs/saves/alpha/half', instead: half[0]!.commit },
      { ref: 'refs/saves/alpha/none' },
    ]);
    expect(trash).toMatch(/\/trash\/\d{13}-depot\.a\.git-/);
    const next = openHandle(git, dir);
    expect(await checkDepot(next)).toEqual([]);
    const names = [
      'refs/saves/alpha/whole',
      'refs/saves/alpha/half',
      'refs/saves/alpha/none',
      'refs/heads/troupe/a',
      kept,
      'refs/earlier/alpha/whole/x',
      `refs/checkout/changes/${one}`,
      'refs/checkout/HEAD',
      'refs/placed/troupe/a',
    ];
    expect(await Promise.all(names.map((ref) => next.readRef(ref)))).toEqual([
      whole[1]!.commit,
      half[0]!.commit,
      undefined,
      one,
      whole[0]!.commit,
      whole[0]!.commit,
      one,
      head,
      undefined,
    ]);
    expect(readFileSync(join(dir, 'lfs/objects/ab/cd/x'), 'utf8')).toBe('large');
    expect(existsSync(join(dir, 'FETCH_HEAD'))).toBe(false);
    // Also if nothing of it is left.
    rmSync(dir, { recursive: true });
    expect(await remakeDepot(git, { dir, places, checkout })).toEqual({ lost: [], trash: undefined });
    expect(await openHandle(git, dir).readRef('refs/checkout/HEAD')).toBe(head);
  });
});
