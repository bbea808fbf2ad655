import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { openHandle } from '../../src/workspaces/depot/handle.ts';
import { openGit } from '../../src/workspaces/git.ts';
import { openRemote } from '../../src/workspaces/remote.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBare } from './bare.ts';
import type { Bare } from './bare.ts';
import { plainGit, write } from './project.ts';

/** A server, and two depots of its project, with a way to it. */
async function openServer() {
  const root = temporaryFolder();
  const server = join(root, 'server.git');
  plainGit(root, 'init', '-q', '--bare', server);
  plainGit(root, 'init', '-q', 'project');
  plainGit(join(root, 'project'), 'remote', 'add', 'origin', '../server.git');
  const [here, there] = [await openBare(), await openBare()];
  const base = await here.commit({ 'a.txt': 'a\n' }, { ref: 'refs/heads/main' });
  const checkout = { folder: join(root, 'project'), format: 'sha1' } as Checkout;
  const remoteOf = ({ handle, places }: Bare, team = 'alpha') =>
    openRemote({ handle, places, checkout, remote: { name: 'origin' }, team, base, path: '' });
  const refs = () => plainGit(server, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n').filter(Boolean);
  const putHook = (name: string, text: string) => {
    write(server, { [`hooks/${name}`]: `#!/bin/sh\n${text}\n` });
    chmodSync(join(server, 'hooks', name), 0o755);
  };
  return { server, here, there, base, checkout, remoteOf, refs, putHook };
}

test('commits are on a server under refs that their ids name, for the machines of one team', async () => {
  const { server, here, there, base, remoteOf, refs } = await openServer();
  const [one, two] = [
    await here.commit({ x: '1' }, { parents: [base] }),
    await here.commit({ x: '2' }, { parents: [base] }),
  ];
  const refOf = (id: string, team = 'alpha') => `refs/troupe/${team}/${id}`;
  expect(await remoteOf(here).push([one, two], [])).toEqual([]);
  expect(await remoteOf(here, 'beta').push([one], [base])).toEqual([]);
  expect(refs()).toEqual([...[one, two].sort().map((id) => `${refOf(id)} ${id}`), `${refOf(one, 'beta')} ${one}`]);
  // What is named otherwise is not ours.
  plainGit(server, 'update-ref', refOf('1'.repeat(40)), base);
  plainGit(server, 'update-ref', `${refOf(base)}/x`, base);
  plainGit(server, 'update-ref', 'refs/heads/main', base);
  expect((await remoteOf(there).list()).sort()).toEqual([one, two].sort());
  expect(await remoteOf(there, 'beta').list()).toEqual([one]);

  expect(await remoteOf(there).fetch([one, two])).toEqual([]);
  expect((await there.handle.run(['rev-list', one, two])).out.toString().split('\n')).toHaveLength(4);
  expect(readdirSync(join(there.dir, 'objects/pack')).filter((name) => name.endsWith('.pack'))).toHaveLength(1);
  expect(readdirSync(there.places.making)).toEqual([]);
  expect((await there.handle.run(['for-each-ref'])).out.toString()).toBe('');
  // A machine that begins with a commit has none of its history.
  const first = await openBare();
  expect(await remoteOf(first).fetch([two], { isFirst: true })).toEqual([]);
  expect((await first.handle.run(['rev-list', two])).out.toString()).toBe(`${two}\n`);
  await expect(remoteOf(first).fetch(['2'.repeat(40)])).rejects.toMatchObject({ code: 'not_found' });

  await remoteOf(here).remove([]);
  await remoteOf(here).remove([one]);
  expect((await remoteOf(there).list()).sort()).toEqual([two]);
  expect(await remoteOf(there, 'beta').list()).toEqual([one]);
  await expect(remoteOf(here).push(['HEAD'], [])).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^Cannot push to origin: /),
  });
});

test('a commit that another machine pushes at the same time is there; one that the server refuses is an error', async () => {
  const { here, base, remoteOf, refs, putHook } = await openServer();
  const [one, two] = [
    await here.commit({ x: '1' }, { parents: [base] }),
    await here.commit({ x: '2' }, { parents: [base] }),
  ];
  // Its ref is made just before ours would be.
  putHook('update', 'git update-ref "$1" "$3"');
  expect(await remoteOf(here).push([one], [])).toEqual([]);
  expect(refs()).toHaveLength(1);
  putHook('update', 'exit 1');
  const refused = { code: 'storage', message: expect.stringMatching(/^Cannot push to origin: it refuses the ref/) };
  await expect(remoteOf(here).push([one, two], [base])).rejects.toMatchObject(refused);
  expect(refs()).toHaveLength(1);
  await expect(remoteOf(here).remove([one])).rejects.toMatchObject({
    message: expect.stringMatching(/^Cannot remove refs from origin: /),
  });
});

test('a server or a git that is not there is told, each in its way', async () => {
  const { server, here, base, checkout, remoteOf } = await openServer();
  rmSync(server, { recursive: true });
  await expect(remoteOf(here).list()).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringMatching(/^Cannot read the refs of origin: /),
  });
  const git = openGit({ environment: {}, program: '/no/git' });
  const options = { places: here.places, checkout, remote: { name: 'origin' }, team: 'alpha', base, path: '' };
  const without = openRemote({ ...options, handle: openHandle(git, here.dir) });
  await expect(without.list()).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/^Cannot start \/no\/git/),
  });
  const unknown = openRemote({ ...options, handle: here.handle, remote: { name: 'other' } });
  await expect(unknown.list()).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringContaining('has no remote of that name'),
  });
});
