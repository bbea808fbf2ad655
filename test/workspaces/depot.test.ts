import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCheckout } from '../../src/workspaces/checkout.ts';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { openDepot } from '../../src/workspaces/depot.ts';
import { openGit } from '../../src/workspaces/git.ts';
import { emptyTrash, listTrash } from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, contents, makeRepository, newProject, openStage, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

describe('a checkout', () => {
  const git = openGit({ environment: process.env });

  test.for([
    ['in no repository', 'no-repository', () => temporaryFolder()],
    [
      'without a commit',
      'no-commit',
      () => {
        const folder = temporaryFolder();
        plainGit(folder, 'init', '-q');
        return folder;
      },
    ],
    [
      'that is bare',
      'no-repository',
      () => {
        const folder = temporaryFolder();
        plainGit(folder, 'init', '-q', '--bare');
        return folder;
      },
    ],
  ] as const)('%s gives no own workspaces, and says why', async ([, reason, make]) => {
    const found = await findCheckout(git, make(), { HOME: '/' });
    expect(found).toMatchObject({ reason, why: expect.stringMatching(/repository|commit/) });
  });

  test('needs a git, and one that is new enough', async () => {
    const root = newProject();
    const missing = openGit({ environment: process.env, program: join(root, 'no-git') });
    expect(await findCheckout(missing, root, {})).toMatchObject({ reason: 'no-git' });
    writeFileSync(join(root, 'old'), '#!/bin/sh\necho git version 2.34.1\n', { mode: 0o755 });
    const old = openGit({ environment: process.env, program: join(root, 'old') });
    expect(await findCheckout(old, root, {})).toMatchObject({
      reason: 'old-git',
      why: expect.stringContaining('2.38'),
    });
  });

  test('is found from a folder inside, and from a linked worktree, which shares its depot', async () => {
    const root = newProject();
    const project = join(root, 'project');
    const { checkout, depot } = await openStage({ root });
    const git = openGit({ environment: { PATH: process.env['PATH'], HOME: root } });
    expect(await findCheckout(git, join(project, 'src'), { HOME: root })).toEqual(checkout);
    plainGit(project, 'worktree', 'add', '-q', '-b', 'side', join(root, 'linked'));
    write(join(root, 'linked'), { 'side.ts': 'side\n' });
    const head = commitAll(join(root, 'linked'));
    const linked = await findCheckout(git, join(root, 'linked'), { HOME: root });
    expect(linked).toMatchObject({ head, branch: 'side', commonDir: checkout.commonDir });
    expect(await depot.take(checkout, 'side')).toBe(head);
    await expect(depot.take(checkout, 'nothing')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a depot', () => {
  test('is private, borrows the packs of the checkout, and takes in new commits', async () => {
    const root = newProject();
    const project = join(root, 'project');
    plainGit(project, 'gc', '-q');
    const { checkout, depot } = await openStage({ root });
    expect(statSync(depot.dir).mode & 0o777).toBe(0o700);
    const pack = readdirSync(join(depot.dir, 'objects/pack')).find((name) => name.endsWith('.pack'))!;
    expect(statSync(join(depot.dir, 'objects/pack', pack)).nlink).toBe(2);
    expect(plainGit(depot.dir, 'config', 'extensions.preciousObjects')).toBe('true');
    plainGit(project, 'tag', 'v1');
    write(project, { 'src/b.ts': 'more\n' });
    const head = commitAll(project);
    expect(await depot.take({ ...checkout, head })).toBe(head);
    expect(await depot.take({ ...checkout, head }, 'v1')).toBe(checkout.head);
    await depot.tidy();
    expect(await depot.check()).toEqual([]);
    expect(await depot.size()).toBeGreaterThan(0);
  });

  test('takes in the last value of each setting, and what the file ignores that the user names', async () => {
    const root = newProject();
    const project = join(root, 'project');
    write(root, { '.gitconfig': '[core]\n\tautocrlf = true\n\texcludesFile = ~/mine\n', mine: '*.tmp\n' });
    plainGit(project, 'config', 'core.autocrlf', 'input');
    const { depot, git } = await openStage({ root });
    const setting = () => plainGit(depot.dir, 'config', '--local', '--get-all', 'core.autocrlf');
    expect(setting()).toBe('input');
    expect(readFileSync(join(depot.dir, 'info/exclude'), 'utf8')).toContain('*.tmp\n');
    for (const value of ['false', 'false', 'input']) {
      plainGit(project, 'config', 'core.autocrlf', value);
      await depot.take((await findCheckout(git, project, { HOME: root })) as Checkout);
      expect(setting()).toBe(value);
    }
  });

  test('answers about its files, refs and itself', async () => {
    const { checkout, depot, places, git } = await openStage();
    const { head, folder } = checkout;
    const text = (path: string, most = 100) => depot.file(head, path, most);
    const size = 'A project\n'.length;
    expect(await text('README.md', size)).toBe('A project\n');
    expect(await Promise.all([text('README.md', size - 1), text('gone.md'), text('src')])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    write(folder, { binary: Buffer.from([65, 0, 66]) });
    const next = commitAll(folder);
    plainGit(folder, 'tag', '-a', '-m', 'x', 'noted', head);
    plainGit(folder, 'branch', 'side', head);
    expect(await depot.take({ ...checkout, head: next })).toBe(next);
    expect(await depot.file(next, 'binary', 100)).toBeUndefined();
    expect(await depot.take({ ...checkout, head: next }, 'noted')).toBe(head);
    expect(await depot.take({ ...checkout, head: next }, 'side')).toBe(head);
    await expect(depot.take(checkout, 'HEAD^')).rejects.toMatchObject({
      code: 'not_found',
      message: `${folder} has no branch or tag "HEAD^"`,
    });
    expect(await depot.branch('troupe/x')).toBeUndefined();
    await depot.moveBranch('troupe/x', head, undefined);
    await depot.moveBranch('troupe/x', next, head);
    expect([await depot.branch('troupe/x'), await depot.placed('troupe/x')]).toEqual([next, next]);
    await expect(depot.moveBranch('troupe/x', head, head)).rejects.toMatchObject({ code: 'conflict' });
    await expect(depot.dropKept('refs/kept/alpha/ada/x')).rejects.toMatchObject({ code: 'not_found' });
    expect([await depot.descends(next, head), await depot.descends(head, next)]).toEqual([true, false]);
    expect(await depot.roots(next)).toEqual([head]);
    expect(await depot.changes(head, next)).toEqual([{ path: 'binary', status: 'added' }]);
    expect(await depot.unknownFilters(head)).toBe(await depot.unknownFilters(head));
    // Another opening takes its place, and somebody removes it.
    expect(await depot.isThere()).toBe(true);
    const again = await openDepot({ git, places, checkout });
    expect(again.repair).toBeUndefined();
    expect([await depot.isThere(), await again.isThere()]).toEqual([false, true]);
    rmSync(join(again.dir, 'HEAD'));
    expect(await again.isThere()).toBe(false);
    rmSync(again.dir, { recursive: true });
    expect(await again.isThere()).toBe(false);
    writeFileSync(again.dir, 'no folder');
    expect(await again.isThere()).toBe(true);
  });

  test('that a command found damaged is looked at when it is opened next, and only then', async () => {
    const { git, places, checkout, depot } = await openStage();
    const suspect = join(depot.dir, 'suspect');
    await expect(depot.handle.run(['cat-file', '-p', '1'.repeat(40)])).rejects.toMatchObject({ code: 'not_found' });
    expect(existsSync(suspect)).toBe(false);
    const odd = plainGit(depot.dir, 'hash-object', '-w', '--stdin');
    damage(depot.dir, odd);
    // Nobody has looked at it.
    expect((await openDepot({ git, places, checkout })).repair).toBeUndefined();
    await expect(depot.handle.run(['cat-file', '-p', odd])).rejects.toMatchObject({ code: 'corrupt' });
    expect(existsSync(suspect)).toBe(true);
    const { repair } = await openDepot({ git, places, checkout });
    expect(repair).toEqual({ lost: [], trash: expect.any(String) });
    writeFileSync(suspect, '');
    expect((await openDepot({ git, places, checkout })).repair).toBeUndefined();
    expect(existsSync(suspect)).toBe(false);
  });

  test('has everything, also of a checkout that borrows its objects or is shallow', async () => {
    const root = newProject();
    write(join(root, 'project'), { 'src/b.ts': '2\n' });
    commitAll(join(root, 'project'));
    renameSync(join(root, 'project'), join(root, 'origin'));
    plainGit(root, 'clone', '-q', '--shared', join(root, 'origin'), join(root, 'project'));
    const borrowing = await openStage({ root });
    expect(existsSync(join(borrowing.depot.dir, 'objects/info/alternates'))).toBe(false);
    expect(await borrowing.depot.check()).toEqual([]);

    rmSync(join(root, 'project'), { recursive: true });
    rmSync(join(root, 'state'), { recursive: true });
    plainGit(root, 'clone', '-q', '--depth=1', `file://${join(root, 'origin')}`, join(root, 'project'));
    const shallow = await openStage({ root });
    expect(shallow.checkout.isShallow).toBe(true);
    const ada = await shallow.workspaces.open(ADA, { base: shallow.checkout.head });
    expect(plainGit(ada.folder, 'log', '--oneline').split('\n')).toHaveLength(1);
    write(ada.folder, { x: 'x\n' });
    await ada.save();
    write(shallow.checkout.folder, { y: 'y\n' });
    const head = commitAll(shallow.checkout.folder);
    expect(await shallow.depot.take({ ...shallow.checkout, head })).toBe(head);
    expect(await shallow.depot.check()).toEqual([]);
  });

  test('works with a partial clone, or says which command completes it', async () => {
    const root = newProject();
    write(join(root, 'project'), { 'src/b.ts': '2\n', 'far/c.ts': 'c\n' });
    commitAll(join(root, 'project'));
    renameSync(join(root, 'project'), join(root, 'origin'));
    plainGit(join(root, 'origin'), 'config', 'uploadpack.allowFilter', 'true');
    const origin = `file://${join(root, 'origin')}`;
    plainGit(root, 'clone', '-q', '--filter=blob:none', origin, join(root, 'project'));
    const whole = await openStage({ root });
    expect(whole.checkout.isPartial).toBe(true);
    const ada = await whole.workspaces.open(ADA, { base: whole.checkout.head });
    write(ada.folder, { 'src/b.ts': 'work\n' });
    expect((await ada.save())!.changes).toHaveLength(1);

    rmSync(join(root, 'project'), { recursive: true });
    rmSync(join(root, 'state'), { recursive: true });
    plainGit(root, 'clone', '-q', '--filter=blob:none', '--sparse', origin, join(root, 'project'));
    const refusal = await openStage({ root }).catch((error: unknown) => error as Error);
    expect(refusal).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('fetch --refetch --no-filter'),
    });
    plainGit(join(root, 'project'), 'fetch', '-q', '--refetch', '--no-filter');
    const completed = await openStage({ root });
    // A sparse checkout does not look as if most files were deleted.
    expect(await completed.depot.uncommitted()).toEqual([]);
    const again = await completed.workspaces.open(ADA, { base: completed.checkout.head });
    expect(existsSync(join(again.folder, 'far/c.ts'))).toBe(true);
  });

  test('of a repository with longer ids works the same', async () => {
    const root = temporaryFolder();
    const project = join(root, 'project');
    mkdirSync(project);
    plainGit(project, 'init', '-q', '--object-format=sha256');
    makeRepository(project);
    const { checkout, workspaces } = await openStage({ root });
    expect(checkout.head).toHaveLength(64);
    const ada = await workspaces.open(ADA, { base: checkout.head });
    write(ada.folder, { x: 'x\n' });
    expect((await ada.save())!.commit).toHaveLength(64);
    expect(plainGit(ada.folder, 'status', '--porcelain')).toBe('?? x');
  });

  test.for(['damaged', 'damaged in a pack', 'gone'])(
    'that is %s is made again from the checkout, and work that can be read stays',
    async (how) => {
      const { root, checkout, workspaces, depot } = await openStage();
      const ada = await workspaces.open(ADA, { base: checkout.head });
      // A name that is not plain: its save is no pack.
      const file = how === 'damaged' ? 'x~' : 'x';
      write(ada.folder, { [file]: 'first\n' });
      const first = await ada.save();
      write(ada.folder, { [file]: 'second\n' });
      const second = await ada.save();
      const large = `lfs/objects/ab/cd/abcd${'0'.repeat(60)}`;
      write(depot.dir, { [large]: 'a large file' });
      if (how === 'gone') rmSync(depot.dir, { recursive: true });
      else damage(depot.dir, plainGit(depot.dir, 'rev-parse', `${second!.commit}:${file}`));

      if (how !== 'gone') {
        await expect(depot.diff(checkout.head, second!.commit)).rejects.toMatchObject({ code: 'corrupt' });
      }
      const next = await openStage({ root });
      expect(await next.depot.check()).toEqual([]);
      if (how !== 'gone') {
        const lost = [{ ref: 'refs/saves/alpha/ada', instead: first!.commit }];
        expect(next.depot.repair).toMatchObject({ lost, trash: expect.any(String) });
        expect(existsSync(join(next.depot.dir, large))).toBe(true);
      }
      // The folder still has the work, so the next save has it.
      const found = await next.workspaces.open(ADA, { base: checkout.head });
      const saved = await found.save();
      expect(saved).toMatchObject({ tree: second!.tree, base: checkout.head });
      expect(await next.depot.check()).toEqual([]);
      expect(plainGit(found.folder, 'status', '--porcelain')).toBe(`?? ${file}`);
    },
  );
});

test('a branch whose last landing is damaged goes on from the one before; without one it is lost', async () => {
  const { root, checkout, depot } = await openStage();
  const land = async (tip: string, text: string): Promise<string> => {
    const blob = await depot.handle.run(['hash-object', '-w', '--stdin'], { input: text });
    const tree = await depot.handle.run(['mktree'], { input: `100644 blob ${blob.out.toString().trim()}\tx\n` });
    const author = { name: 'Ada', email: 'ada@example.com' };
    return depot.commit({
      tree: tree.out.toString().trim(),
      parents: [tip],
      message: text,
      author,
      at: 1_700_000_000_000,
    });
  };
  const [branch, kept, gone] = ['troupe/alpha', 'troupe/beta', 'troupe/gamma'];
  const tips = [checkout.head];
  for (const text of ['one\n', 'two\n', 'three\n']) tips.push(await land(tips.at(-1) as string, text));
  const [, one = '', two = '', three = ''] = tips;
  await depot.moveBranch(branch, three, undefined);
  await depot.moveBranch(kept, one, undefined);
  const only = await land(checkout.head, 'only\n');
  await depot.moveBranch(gone, only, undefined);
  for (const id of [two, three, only]) damage(depot.dir, plainGit(depot.dir, 'rev-parse', `${id}^{tree}`));
  await expect(depot.changes(one, three)).rejects.toMatchObject({ code: 'corrupt' });

  const next = await openStage({ root });
  expect(await next.depot.branch(branch)).toBe(one);
  expect(await next.depot.branch(kept)).toBe(one);
  expect(await next.depot.branch(gone)).toBeUndefined();
  expect(next.depot.repair?.lost).toEqual([
    { ref: `refs/heads/${branch}`, instead: one },
    { ref: `refs/heads/${gone}` },
  ]);
  expect(await next.depot.check()).toEqual([]);
});

describe('clean-up', () => {
  test('keeps work that is not on the tip, and moves the folder to the trash', async () => {
    const { checkout, workspaces, depot, places } = await openStage();
    const ada = await workspaces.open(ADA, { base: checkout.head });
    write(ada.folder, { x: 'work\n', 'notes.log': 'ignored\n' });
    expect(await ada.size()).toBeGreaterThan(0);
    const { kept, trash } = await ada.close({ tip: checkout.head });
    expect(existsSync(ada.folder)).toBe(false);
    expect(contents(trash!)).toMatchObject({ x: 'work\n', 'notes.log': 'ignored\n' });
    expect(await depot.kept()).toEqual([kept]);
    await expect(ada.save()).rejects.toMatchObject({ code: 'conflict' });
    expect(await listTrash(places)).toMatchObject([{ path: trash, what: 'alpha.ada' }]);
    expect(await emptyTrash(places, 0)).toEqual([]);
    await emptyTrash(places, Number.MAX_SAFE_INTEGER);
    expect(existsSync(trash!)).toBe(false);

    const again = await workspaces.open(ADA, { base: checkout.head });
    expect(again.opened.how).toBe('new');
    expect(await again.saves()).toEqual([]);
    expect((await again.close({ tip: checkout.head })).kept).toBeUndefined();
    await depot.dropKept(kept!.ref);
    expect(await depot.kept()).toEqual([]);
  });

  test('keeps nothing that landed, as a squash or by its id', async () => {
    const { checkout, workspaces, depot } = await openStage();
    const author = { name: 'Ada', email: 'ada@example.com' };
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map((member) => workspaces.open({ team: 'alpha', member }, { base: checkout.head })),
    );
    write(ada!.folder, { x: 'work\n' });
    write(bob!.folder, { y: 'work\n' });
    const [work, other] = [await ada!.save(), await bob!.save()];
    const landing = { message: 'Add x', author, at: Date.now() };
    const landed = await depot.land({ tip: checkout.head, work: work!.commit }, landing);
    const tip = 'landed' in landed ? landed.landed : '';
    expect((await ada!.close({ tip })).kept).toBeUndefined();
    expect((await bob!.close({ tip, landed: [other!.commit] })).kept).toBeUndefined();
  });
});

/** Replaces an object by bytes that are none. A loose one not in place: it may be a hard link. */
function damage(dir: string, id: string): void {
  const [path] = globSync(`objects/${id.slice(0, 2)}/${id.slice(2)}`, { cwd: dir });
  if (path === undefined) return damageInPack(dir, id);
  const file = join(dir, path);
  rmSync(file);
  writeFileSync(file, 'x');
  appendFileSync(file, 'y'.repeat(40));
}

function damageInPack(dir: string, id: string): void {
  for (const index of globSync('objects/pack/*.idx', { cwd: dir })) {
    const list = plainGit(dir, 'verify-pack', '-v', index);
    const [, offset] = new RegExp(`^${id} \\w+ +\\d+ \\d+ (\\d+)$`, 'm').exec(list) ?? [];
    if (offset === undefined) continue;
    const file = join(dir, index.replace(/idx$/, 'pack'));
    const bytes = readFileSync(file);
    bytes.fill('x', Number(offset) + 2, Number(offset) + 8);
    rmSync(file);
    writeFileSync(file, bytes);
    return;
  }
  throw new Error(`No pack has ${id}`);
}

test('many teams of one repository may begin at once', async () => {
  const { checkout, depot } = await openStage();
  const taken = await Promise.all(Array.from({ length: 20 }, () => depot.take(checkout)));
  expect(new Set(taken)).toEqual(new Set([checkout.head]));
  expect(readFileSync(join(depot.dir, 'checkout'), 'utf8')).toBe(`${checkout.folder}\n${checkout.commonDir}\n`);
  expect(readdirSync(depot.dir).filter((name) => name.startsWith('checkout'))).toEqual(['checkout']);
});
