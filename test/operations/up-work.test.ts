import { chmodSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shareStage } from '../server/stage.ts';
import { commitAll, makeRepository, plainGit, write } from '../workspaces/project.ts';

const shared = shareStage();

/** A repository with a program for members; `up` raises a team of two from it. */
function newProject(name: string, more: Readonly<Record<string, string>> = {}) {
  const { act, home } = shared();
  const repository = join(home.directory, name);
  makeRepository(repository, { '.gitignore': '*.log\n', 'agent.sh': '#!/bin/sh\n', ...more });
  chmodSync(join(repository, 'agent.sh'), 0o755);
  commitAll(repository, 'program');
  const up = (team: string, file: object = {}, { folder = repository, ...options }: UpOptions = {}) => {
    const members = ['ann', 'bob'].map((member) => ({ name: member, agent: { exec: './agent.sh' } }));
    const source = JSON.stringify({ team, members, ...file });
    return act('team.up', { source, folder, yes: true, ...options });
  };
  return { repository, up };
}

interface UpOptions {
  readonly folder?: string;
  readonly withChanges?: boolean;
  readonly again?: boolean;
}

test('members begin only from a base that has their programs as they were approved', async () => {
  const { act } = shared();
  const { repository, up } = newProject('based', { 'package.json': '{"version":"1","scripts":{"test":"true"}}' });
  const branch = (name: string, files: Record<string, string>): void => {
    plainGit(repository, 'checkout', '-q', '-b', name, 'main');
    write(repository, files);
    commitAll(repository);
    plainGit(repository, 'checkout', '-q', 'main');
  };
  branch('other', { 'agent.sh': '#!/bin/sh\necho other\n' });
  branch('later', { 'later.txt': 'later\n', 'package.json': '{"version":"2","scripts":{"test":"true"}}' });
  branch('scripts', { 'package.json': '{"version":"1","scripts":{"test":"false"}}' });
  branch('settings', { '.claude/settings.json': '{"hooks":{}}' });
  const hooks = { TaskCompleted: { command: 'npm test' } };
  await expect(up('based', { work: { base: 'other' } })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/where agent\.sh is missing or different: check out that commit/),
  });
  await expect(up('based', { work: { base: 'scripts' }, hooks })).rejects.toThrow('where package.json is missing');
  const claude = ['ann', 'bob'].map((name) => ({ name, agent: 'claude' }));
  await expect(up('based', { work: { base: 'settings' }, members: claude })).rejects.toThrow(
    'where .claude/settings.json is missing or different',
  );
  // Nothing was made, so the name is free.
  expect((await act('team.list', {})).map(({ name }) => name)).not.toContain('based');
  const { work } = await up('based', { work: { base: 'later' }, hooks });
  expect(work?.base).toBe(plainGit(repository, 'rev-parse', 'later'));
});

test('a base without the folder of the team file is refused, and one with it is used', async () => {
  const { repository, up } = newProject('nested');
  plainGit(repository, 'branch', 'old');
  const folder = join(repository, 'pkg/app');
  write(folder, { 'agent.sh': '#!/bin/sh\n' });
  chmodSync(join(folder, 'agent.sh'), 0o755);
  plainGit(repository, 'checkout', '-q', '-b', 'fresh');
  commitAll(repository);
  await expect(up('nested', { work: { base: 'old' } }, { folder })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('work.base is old, where the folder of the team file (pkg/app) does not exist'),
  });
  expect((await up('nested', { work: { base: 'fresh' } }, { folder })).work).toMatchObject({ prefix: 'pkg/app' });
});

test('a check of a standing team says what was committed since, until the branch has it', async () => {
  const { act } = shared();
  const { repository, up } = newProject('behind');
  await up('behind');
  const members = ['ann', 'bob'].map((name) => ({ name, agent: { exec: './agent.sh' } }));
  const check = () => act('team.check', { source: JSON.stringify({ team: 'behind', members }), folder: repository });
  expect(await check()).toMatchObject({ standing: 'open', work: { branch: 'troupe/behind' } });
  expect((await check()).work?.ahead).toBeUndefined();
  write(repository, { 'later.txt': 'later\n' });
  commitAll(repository);
  expect((await check()).work?.ahead).toEqual({ commits: 1, isOnTop: true });
  await act('work.take', { teamId: 'behind', what: 'HEAD' });
  expect((await check()).work?.ahead).toBeUndefined();
});

test('a branch that git refuses, that another team has or that is in its way is refused before the team exists', async () => {
  const { act } = shared();
  const { repository, up } = newProject('branches');
  await up('first', { work: { into: 'feature' } });
  for (const [into, code, message] of [
    ['a..b', 'invalid', '"a..b" cannot name a branch'],
    ['-x', 'invalid', '"-x" cannot name a branch'],
    ['x'.repeat(300), 'invalid', 'cannot name a branch'],
    ['feature', 'conflict', 'Branch feature is the branch of team first'],
    ['feature/x', 'conflict', 'Branch feature/x cannot exist beside feature, the branch of team first'],
  ] as const) {
    await expect(up('second', { work: { into } })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  }
  // Another worktree has the same depot, and another repository has its own.
  plainGit(repository, 'worktree', 'add', '-q', '-b', 'side', '../side');
  await expect(up('second', { work: { into: 'feature' } }, { folder: join(repository, '../side') })).rejects.toThrow(
    'the branch of team first',
  );
  expect((await act('team.list', {})).map(({ name }) => name)).not.toContain('second');
  await newProject('apart').up('apart', { work: { into: 'feature' } });
  await act('team.down', { teamId: 'first', force: true });
  await up('first', { work: { into: 'feature/x' } }, { again: true });
  await up('second', { work: { into: 'feature/y' } });
});

test('--with-changes takes staged files that are ignored, and names what it leaves out', async () => {
  const { act } = shared();
  const { repository, up } = newProject('changed');
  write(repository, {
    'forced.log': 'forced\n',
    'other.log': 'other\n',
    'big.bin': 'x'.repeat(2048),
    'small.txt': 's\n',
  });
  plainGit(repository, 'add', '-f', 'forced.log');
  mkdirSync(join(repository, 'sub'));
  plainGit(join(repository, 'sub'), 'init', '-q');
  write(repository, { 'sub/file': 'inside\n' });
  const source = JSON.stringify({
    team: 'changed',
    members: ['ann', 'bob'].map((name) => ({ name, agent: 'claude' })),
  });
  const { work: planned } = await act('team.check', { source, folder: repository });
  expect(planned?.uncommitted).toEqual(['big.bin', 'forced.log', 'small.txt', 'sub/']);
  const before = plainGit(repository, 'status', '--porcelain');
  const { leftOut } = await up('changed', { limits: { fileSize: '1KB' } }, { withChanges: true });
  expect(leftOut).toEqual([
    expect.stringMatching(/^big\.bin is larger than the limit for one file: .* \(2048 bytes\)$/),
    expect.stringMatching(/^sub is a git repository inside the folder/),
  ]);
  const { depot = '', base = '' } = await act('work.show', { teamId: 'changed' });
  expect(plainGit(depot, 'ls-tree', '-r', '--name-only', base).split('\n')).toEqual([
    '.gitignore',
    'agent.sh',
    'forced.log',
    'small.txt',
  ]);
  expect(plainGit(repository, 'status', '--porcelain')).toBe(before);
});

test('a team whose repository was moved goes on there, with what landed before', async () => {
  const { act, errors } = shared();
  const { repository, up } = newProject('before');
  await up('mover');
  const land = async (title: string, path: string): Promise<string> => {
    const { id: taskId } = await act('task.create', { teamId: 'mover', title });
    const { epoch = 0 } = (await act('task.claim', { teamId: 'mover', taskId }, 'ann')) ?? {};
    const { folder = '' } = (await act('work.open', { teamId: 'mover', memberId: 'ann' })) ?? {};
    await act('work.begin', { teamId: 'mover', memberId: 'ann', taskId, epoch }, 'ann');
    write(folder, { [path]: title });
    await act('task.complete', { teamId: 'mover', taskId, epoch }, 'ann');
    return (await act('work.show', { teamId: 'mover' })).tip ?? '';
  };
  const tip = await land('First', 'first.txt');
  const { depot } = await act('work.show', { teamId: 'mover' });
  const moved = join(repository, '../after');
  renameSync(repository, moved);
  expect(await act('work.show', { teamId: 'mover' })).toMatchObject({ tip, depot, isMerged: false });
  expect((await act('work.show', { teamId: 'mover' })).repository).toBeUndefined();
  await expect(act('work.locate', { teamId: 'mover', folder: join(moved, '..') })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('was not moved to'),
  });
  const { work } = await up('mover', {}, { folder: moved });
  expect(work).toMatchObject({ repository: moved, tip });
  expect(await act('work.show', { teamId: 'mover' })).toMatchObject({ tip, depot, repository: moved });
  const next = await land('Second', 'second.txt');
  expect(plainGit(depot ?? '', 'ls-tree', '--name-only', next).split('\n')).toEqual(
    expect.arrayContaining(['first.txt', 'second.txt']),
  );
  expect(errors).toEqual([]);
});

test('changed limits hold at once, also in workspaces that are open', async () => {
  const { act } = shared();
  const { up } = newProject('limited');
  const worker = { teamId: 'limited', memberId: 'ann' };
  await up('limited', { limits: { fileSize: '1KB' } });
  const { folder = '' } = (await act('work.open', worker)) ?? {};
  write(folder, { 'big.txt': 'x'.repeat(2048) });
  const problems = async () => (await act('work.check', worker)).problems;
  expect(await problems()).toEqual([expect.stringContaining('big.txt is larger than the limit for one file')]);
  await up('limited', { limits: { fileSize: '1MB' } });
  expect(await problems()).toEqual([]);
  await up('limited', { limits: { workSize: '1KB', disk: '1KB' } });
  expect(await problems()).toEqual([]);
  write(folder, { 'more.txt': 'x'.repeat(2048) });
  expect(await problems()).toEqual([expect.stringContaining('more.txt makes the work larger than its limit')]);
  expect((await act('work.show', { teamId: 'limited' })).disk).toMatchObject({ limit: 1024 });
  await up('limited');
  expect(await problems()).toEqual([]);
});
