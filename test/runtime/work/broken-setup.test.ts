import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashSetup } from '../../../src/runtime/hooks/approvals.ts';
import { openApart } from '../../mcp/apart.ts';
import type { House } from '../../mcp/house.ts';
import { write } from '../../workspaces/project.ts';

/** The folder is ready when its last step is done. It is killed before that as long as there is a file `fatal`. */
const SETUP = 'rm -rf made; mkdir made; [ ! -e fatal ] || kill -9 $$; echo > made/ready';
const FILES = { '.gitignore': 'made\nfatal\n', 'package-lock.json': '1\n' };

/** A person says yes to the question why a member was stopped. */
async function letGoOn(house: House): Promise<void> {
  const [request] = await house.call<{ id: string }[]>('request.list', { teamId: 'demo', status: 'pending' });
  await house.call('request.answer', { teamId: 'demo', requestId: request?.id ?? '', approve: true });
}

/** A member without a task is set up. */
const save = (house: House, memberId: string) => house.call('work.save', { teamId: 'demo', memberId }, memberId);

/** A member claims a new task and begins. */
async function begin(house: House, memberId: string): Promise<string> {
  const { id } = await house.call<{ id: string }>('task.create', { teamId: 'demo', title: 'More' });
  const { epoch } = await house.call<{ epoch: number }>('task.claim', { teamId: 'demo', taskId: id }, memberId);
  await house.call('work.begin', { teamId: 'demo', memberId, taskId: id, epoch }, memberId);
  return id;
}

test('a setup that is killed when it runs again, runs once more before its member begins', async () => {
  const { house, folder } = await openApart({ files: FILES, setup: `echo mine > stray.txt; ${SETUP}` });
  await save(house, 'alice');
  const alice = await folder('alice');
  const ready = join(alice, 'made/ready');
  expect(existsSync(ready)).toBe(true);

  // What it wrote beside ignored files goes when a task begins, so it runs again.
  write(alice, { fatal: '' });
  await expect(begin(house, 'alice')).rejects.toMatchObject({ code: 'member_stopped' });
  expect(existsSync(ready)).toBe(false);
  rmSync(join(alice, 'fatal'));
  await letGoOn(house);
  await folder('alice');
  expect(existsSync(ready)).toBe(true);
});

test('a setup that was killed for a newer branch runs again when the branch is as it was before', async () => {
  const { house, folder } = await openApart({ files: FILES, setup: SETUP });
  const land = async (lock: string): Promise<void> => {
    const taskId = await begin(house, 'bob');
    write(await folder('bob'), { 'package-lock.json': lock });
    await house.call('task.complete', { teamId: 'demo', taskId }, 'bob');
  };
  await save(house, 'alice');
  const alice = await folder('alice');
  const ready = join(alice, 'made/ready');
  expect(existsSync(ready)).toBe(true);

  await land('2\n');
  write(alice, { fatal: '' });
  await expect(save(house, 'alice')).rejects.toMatchObject({ code: 'member_stopped' });
  expect(existsSync(ready)).toBe(false);
  await land('1\n');
  rmSync(join(alice, 'fatal'));
  await letGoOn(house);
  await begin(house, 'alice');
  expect(existsSync(ready)).toBe(true);
});

test('a setup that a member changes does not run after a yes to what that member asked for, whatever it put into that', async () => {
  const files = { '.gitignore': 'ran\n', 'setup.sh': 'echo approved > ran\n' };
  const { house, folder, repository } = await openApart({ files, setup: 'sh setup.sh' });
  await save(house, 'alice');
  const ran = async (): Promise<string> => readFileSync(join(await folder('alice'), 'ran'), 'utf8');

  const taskId = await begin(house, 'bob');
  const bob = await folder('bob');
  write(bob, { 'setup.sh': 'echo changed > ran\n' });
  const detail = { approves: hashSetup({ command: 'sh setup.sh' }, bob, repository) };
  const asks = { teamId: 'demo', kind: 'permission', memberId: 'bob', content: 'May I go on?', detail };
  await house.call('request.raise', asks, 'bob');
  await letGoOn(house);
  await house.call('task.complete', { teamId: 'demo', taskId }, 'bob');
  await expect(save(house, 'alice')).rejects.toMatchObject({ code: 'member_stopped' });
  expect(await ran()).toBe('approved\n');
  // The question of Troupe says what it is about.
  await letGoOn(house);
  await save(house, 'alice');
  expect(await ran()).toBe('changed\n');
});
