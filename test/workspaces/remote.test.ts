import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TeamRemote } from '../../src/core/team-remote.ts';
import { absentCheckout } from '../../src/workspaces/absent.ts';
import { openDepot } from '../../src/workspaces/depot.ts';
import { findRemote } from '../../src/workspaces/remote/settings.ts';
import { findPrograms, needTool } from '../tools.ts';
import { commitAll, contents, newProject, openStage, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';

let here: Stage;
let there: Stage;
/** The repository on the server. */
let bare: string;
/** Where programs leave their name when they run. */
let marks: string;
let works = 0;

beforeAll(async () => {
  const roots = [newProject({ lasting: true }), newProject({ lasting: true })] as const;
  const project = join(roots[0], 'project');
  [bare, marks] = [join(roots[0], 'server.git'), join(roots[0], 'marks')];
  mkdirSync(marks);
  plainGit(roots[0], 'clone', '-q', '--bare', project, bare);
  // A path in the settings of a checkout begins at its top folder.
  plainGit(project, 'remote', 'add', 'origin', '../server.git');
  rmSync(join(roots[1], 'project'), { recursive: true });
  plainGit(roots[1], 'clone', '-q', bare, 'project');
  here = await openStage({ root: roots[0] });
  there = await openStage({ root: roots[1] });
  return () => {
    for (const root of roots) rmSync(root, { recursive: true, force: true });
  };
});

const remoteOf = ({ depot, checkout }: Stage, remote: TeamRemote = { name: 'origin' }) =>
  depot.remote({ checkout, remote, team: 'alpha', base: here.checkout.head });

/** A commit on the base, in the depot of the machine that sends. */
async function makeWork(
  files: Readonly<Record<string, string>> = { [`work-${works++}.txt`]: 'work\n' },
): Promise<string> {
  const base = here.checkout.head;
  const ada = await here.workspaces.open({ team: 'alpha', member: 'ada' }, { base });
  write(ada.folder, files);
  const saved = (await ada.save())!;
  return here.depot.flatten({ commit: saved.commit, base, name: 'alpha/ada' });
}

const refOf = (commit: string): string => `refs/troupe/alpha/${commit}`;

const serverRefs = (): string => plainGit(bare, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/troupe');

/** A program that says that it ran. */
function plant(path: string, name: string, rest = ''): void {
  write(path, { [name]: `#!/bin/sh\ntouch ${join(marks, name.replaceAll('/', '-'))}\n${rest}` });
  chmodSync(join(path, name), 0o755);
}

function forgetMarks(): void {
  for (const name of readdirSync(marks)) rmSync(join(marks, name));
}

describe('a remote', () => {
  beforeEach(forgetMarks);

  test('brings a work by its commit; no hook runs, and the checkout stays as it was', async () => {
    const { folder } = here.checkout;
    for (const name of ['pre-push', 'reference-transaction', 'post-update']) {
      plant(join(folder, '.git/hooks'), name);
      plant(join(here.depot.dir, 'hooks'), name);
    }
    const before = contents(folder, []);
    const commit = await makeWork();
    const base = here.checkout.head;
    expect(await remoteOf(here).push([commit], [base])).toEqual([]);
    await remoteOf(here).push([commit], [base]);
    expect(serverRefs()).toBe(`${commit} ${refOf(commit)}`);
    const there1 = contents(there.checkout.folder, []);
    expect(await remoteOf(there).fetch([commit])).toEqual([]);
    expect(await there.depot.has([commit])).toEqual([commit]);
    expect(plainGit(there.depot.dir, 'fsck', '--no-dangling')).toBe('');
    expect(contents(folder, [])).toEqual(before);
    expect(contents(there.checkout.folder, [])).toEqual(there1);
    expect(readdirSync(marks)).toEqual([]);
    expect(readdirSync(here.places.making)).toEqual([]);
    // In plain git, the hook runs.
    plainGit(folder, 'push', '-q', 'origin', 'HEAD:refs/heads/plain');
    expect(readdirSync(marks)).toContain('pre-push');

    expect(await remoteOf(here).list()).toEqual([commit]);
    await remoteOf(here).remove([commit]);
    expect(serverRefs()).toBe('');
  });

  test('a ref that somebody moved or made is no harm', async () => {
    const [commit, other] = [await makeWork(), await makeWork()];
    const base = here.checkout.head;
    await remoteOf(here).push([commit, other], [base]);
    plainGit(bare, 'update-ref', refOf(commit), base);
    plainGit(bare, 'update-ref', 'refs/troupe/alpha/--upload-pack=touch', base);
    // The commit is what is asked for, whatever the ref says.
    await remoteOf(there).fetch([commit]);
    expect(await there.depot.has([commit])).toEqual([commit]);
    expect(await remoteOf(here).list()).toEqual([other]);
    // A server that does not serve commits without a ref does not have it.
    plainGit(bare, 'update-ref', '-d', refOf(commit));
    const gone = 'f'.repeat(40);
    await expect(remoteOf(there).fetch([gone])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^Cannot fetch from origin: it does not have the commit/),
    });
    // One that is elsewhere stays: it may be somebody's.
    plainGit(bare, 'update-ref', refOf(commit), other);
    await expect(remoteOf(here).remove([commit])).rejects.toThrow('Cannot remove refs from origin');
    expect(serverRefs()).toContain(refOf(commit));
    await expect(remoteOf(here).push([commit], [base])).rejects.toThrow('Cannot push to origin: it refuses the ref');
    plainGit(bare, 'update-ref', '-d', refOf(commit));
  });

  test('what git refuses is not taken in', async () => {
    const blob = plainGit(bare, 'rev-parse', 'HEAD:README.md');
    const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
    write(bare, { tree: entry });
    const tree = plainGit(bare, 'hash-object', '-t', 'tree', '-w', '--literally', 'tree');
    const commit = plainGit(bare, 'commit-tree', tree, '-p', 'HEAD', '-m', 'hostile');
    plainGit(bare, 'update-ref', refOf(commit), commit);
    await expect(remoteOf(there).fetch([commit])).rejects.toMatchObject({ code: 'corrupt' });
    expect(await there.depot.has([commit])).toEqual([]);
    expect(readdirSync(there.places.making)).toEqual([]);
    expect(existsSync(join(there.depot.dir, 'suspect'))).toBe(false);
    plainGit(bare, 'update-ref', '-d', refOf(commit));
  });

  test('one that is gone is told, and works again when it is back', async () => {
    const commit = await makeWork();
    renameSync(bare, `${bare}-gone`);
    await expect(remoteOf(here).push([commit], [])).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/^Cannot push to origin: .*server\.git/),
    });
    await expect(remoteOf(there).fetch([commit])).rejects.toMatchObject({ code: 'storage' });
    renameSync(`${bare}-gone`, bare);
    await remoteOf(here).push([commit], []);
    await remoteOf(there).fetch([commit]);
    expect(await there.depot.has([commit])).toEqual([commit]);
  });

  test('a machine without a checkout takes the base without its history, by the address in the journal', async () => {
    const base = commitAll(here.checkout.folder);
    plainGit(here.checkout.folder, 'push', '-q', '--no-verify', 'origin', 'HEAD:main');
    const { git, places } = there;
    const checkout = absentCheckout(places, base);
    const depot = await openDepot({ git, places, checkout });
    const stage = { ...there, depot, checkout };
    await expect(remoteOf(stage).fetch([base], { isFirst: true })).rejects.toThrow(
      'Cannot fetch from origin: this machine has no checkout that knows it, and the journal does not have its address',
    );
    // Of a repository that only the journal names, no hook runs either.
    plant(join(bare, 'hooks'), 'post-receive');
    forgetMarks();
    const remote = await findRemote(git, there.checkout, 'origin');
    expect(remote).toEqual({ name: 'origin', url: bare });
    await remoteOf(stage, remote).fetch([base], { isFirst: true });
    expect(plainGit(depot.dir, 'rev-list', '--count', base)).toBe('1');
    await here.depot.take({ ...here.checkout, head: base });
    const tree = plainGit(depot.dir, 'rev-parse', `${base}^{tree}`);
    const author = { name: 'cid', email: 'cid@example.com' };
    const commit = await depot.commit({ tree, parents: [base], message: 'on it', author, at: 1 });
    await remoteOf(stage, remote).push([commit], [base]);
    expect(readdirSync(marks)).toEqual([]);
    await remoteOf(here).fetch([commit]);
    expect(plainGit(here.depot.dir, 'rev-list', '--count', commit)).toBe('3');
    rmSync(join(bare, 'hooks/post-receive'));
  });

  test('nobody is asked for a password', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { folder } = here.checkout;
    try {
      // The user's own helper runs, and would ask at the terminal.
      plant(here.root, 'helper', 'read -r answer < /dev/tty && echo "password=$answer"\nexit 1\n');
      plainGit(folder, 'remote', 'add', 'web', `http://ada:secret@127.0.0.1:${port}/a.git`);
      plainGit(folder, 'remote', 'add', 'named', `http://127.0.0.1:${port}/a.git`);
      plainGit(folder, 'config', 'credential.helper', join(here.root, 'helper'));
      await expect(remoteOf(here, { name: 'named' }).push([await makeWork()], [])).rejects.toMatchObject({
        code: 'storage',
        message: expect.stringMatching(/^Cannot push to named: git has no credentials that work without a question/),
      });
      expect(readdirSync(marks)).toEqual(['helper']);
      const refused = await remoteOf(here, { name: 'web' })
        .push([await makeWork()], [])
        .catch((error: unknown) => String(error));
      expect(refused).toContain('Cannot push to web: ');
      expect(refused).not.toContain('secret');
      expect(await findRemote(here.git, here.checkout, 'web')).toEqual({
        name: 'web',
        url: `http://127.0.0.1:${port}/a.git`,
      });
    } finally {
      server.close();
      plainGit(folder, 'config', '--unset', 'credential.helper');
      for (const name of ['web', 'named']) plainGit(folder, 'remote', 'remove', name);
    }
  });

  test('a wrong name is an error that lists the names, and other kinds of addresses run nothing', async () => {
    const { folder } = there.checkout;
    await expect(findRemote(there.git, there.checkout, 'orign')).rejects.toThrow(
      `work.remote is "orign", and ${folder} has no such remote (it has origin): correct the name`,
    );
    plainGit(folder, 'remote', 'add', 'odd', `ext::touch ${join(marks, 'ran')}`);
    plainGit(folder, 'config', 'url.ext::true.insteadOf', 'short:');
    expect(await findRemote(there.git, there.checkout, 'odd')).toEqual({ name: 'odd' });
    await expect(remoteOf(there, { name: 'odd' }).push([there.checkout.head], [])).rejects.toThrow('not allowed');
    expect(readdirSync(marks)).toEqual([]);
    plainGit(folder, 'remote', 'remove', 'odd');
  });

  test('large files of git-lfs go along, and are named if they cannot', async (context) => {
    needTool(context, 'git-lfs');
    const { folder } = here.checkout;
    write(folder, { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
    const base = commitAll(folder);
    plainGit(folder, 'push', '-q', '--no-verify', 'origin', 'HEAD:main');
    await here.depot.take({ ...here.checkout, head: base });
    const bob = await here.workspaces.open({ team: 'alpha', member: 'bob' }, { base });
    write(bob.folder, { 'big.bin': 'x'.repeat(5_000) });
    const saved = (await bob.save())!;
    const commit = await here.depot.flatten({ commit: saved.commit, base, name: 'alpha/bob' });
    expect(await remoteOf(here).push([commit], [base])).toEqual([]);
    const [oid = ''] = /(?<=sha256:)\w+/.exec(plainGit(here.depot.dir, 'cat-file', '-p', `${commit}:big.bin`)) ?? [];
    const file = join('lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
    expect(readFileSync(join(bare, file), 'utf8')).toBe('x'.repeat(5_000));

    // A PATH with git and without git-lfs.
    const path = join(there.root, 'bin');
    mkdirSync(path);
    for (const name of ['git', 'sh']) symlinkSync(findPrograms(name)[0]!, join(path, name));
    const without = await openStage({ root: there.root, path });
    expect(await remoteOf(without).fetch([commit])).toEqual([
      '1 large file (git-lfs) did not come along, because git-lfs is not installed on this machine',
    ]);
    const again = await openStage({ root: newProject() });
    const stage = { ...again, checkout: there.checkout };
    expect(await remoteOf(stage).fetch([commit])).toEqual([]);
    expect(readFileSync(join(stage.depot.dir, file), 'utf8')).toBe('x'.repeat(5_000));
    const work = await stage.workspaces.open({ team: 'alpha', member: 'cid' }, { base: commit });
    expect(readFileSync(join(work.folder, 'big.bin'), 'utf8')).toBe('x'.repeat(5_000));
  });
});
