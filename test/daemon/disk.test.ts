import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { startDaemon } from '../../src/daemon.ts';
import { replacePrivateFile } from '../../src/runtime/private-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { connect, get, readLog, serve, temporaryHome } from './serve.ts';

test('stays up on a full disk: writes fail, reads work, it says so, and recovers when there is space', async (context) => {
  const home = smallDisk(16);
  context.skip(home === undefined, 'only root can mount a small disk');
  if (!home) return;
  const daemon = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: 'demo' });
  await client.call('task.create', { teamId: 'demo', title: 'before' });

  const filler = join(home.directory, 'filler');
  for (let round = 0; round < 3; round++) {
    fillUp(filler);
    const failures: unknown[] = [];
    const written: string[] = [];
    for (let n = 0; n < 40; n++) {
      const description = 'x'.repeat(20_000);
      await client.call('task.create', { teamId: 'demo', title: `on a full disk ${round} ${n}`, description }).then(
        ({ id }) => written.push(id),
        (error: unknown) => failures.push(error),
      );
    }
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toMatchObject({ code: 'storage' });
    // Refused tasks do not exist, accepted ones do.
    const tasks = await client.call('task.list', { teamId: 'demo' });
    expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(written));
    expect(tasks.filter(({ title }) => title.startsWith(`on a full disk ${round}`))).toHaveLength(written.length);
    const { health } = await client.call('daemon.status', {});
    expect(health.status).toBe('degraded');
    expect(health.problems[0]).toContain('the disk is full');
    expect(await (await get(home, `${daemon.url}/health`)).json()).toEqual({ status: 'degraded' });
    expect(await (await get(home, `${daemon.url}/metrics`)).text()).toContain('\ntroupe_degraded 1\n');

    rmSync(filler);
    await client.call('task.create', { teamId: 'demo', title: `after ${round}` });
    expect((await client.call('daemon.status', {})).health).toEqual({ status: 'ok', problems: [] });
  }
  const told = readLog(home).filter(({ event }) => String(event).startsWith('health.'));
  for (const problem of ['disk', 'journal']) {
    const events = told.filter((line) => line['problem'] === problem).map(({ event }) => event);
    expect(events.filter((event) => event === 'health.degraded').length).toBeGreaterThanOrEqual(3);
    expect(events).toEqual(events.map((_, at) => (at % 2 === 0 ? 'health.degraded' : 'health.restored')));
    expect(events.at(-1)).toBe('health.restored');
  }

  const before = await client.call('task.list', { teamId: 'demo' });
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  await serve(home);
  expect(await client.call('task.list', { teamId: 'demo' })).toEqual(before);
});

test('can be started and used on a full disk with its reserve, which it takes again when there is space', async (context) => {
  const home = smallDisk(24);
  context.skip(home === undefined, 'only root can mount a small disk');
  if (!home) return;
  const reserve = join(home.directory, 'reserve');
  const first = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: 'demo' });
  await client.call('task.create', { teamId: 'demo', title: 'to be ended' });
  expect(statSync(reserve)).toMatchObject({ size: 1024 * 1024, mode: 0o100600 });
  first.child.kill('SIGKILL');
  await first.ended;

  const filler = join(home.directory, 'filler');
  fillUp(filler);
  const second = await serve(home);
  expect(statSync(reserve, { throwIfNoEntry: false })).toBeUndefined();
  await client.call('task.claim', { teamId: 'demo', taskId: '1' }, { as: 'lead' });
  await client.call('task.complete', { teamId: 'demo', taskId: '1' }, { as: 'lead' });
  expect((await client.call('daemon.status', {})).health).toMatchObject({
    status: 'degraded',
    problems: [expect.stringContaining('the disk is full')],
  });
  expect(readLog(home)).toContainEqual(expect.objectContaining({ event: 'health.degraded', problem: 'disk' }));

  rmSync(filler);
  expect((await client.call('daemon.status', {})).health).toEqual({ status: 'ok', problems: [] });
  expect(statSync(reserve).size).toBe(1024 * 1024);
  second.child.kill('SIGTERM');
  await second.ended;
});

test('says what is wrong when there is no space to start', async (context) => {
  const home = smallDisk(1);
  context.skip(home === undefined, 'only root can mount a small disk');
  if (!home) return;
  fillUp(join(home.directory, 'filler'));
  await expect(serve(home)).rejects.toThrow(/no space left|disk is full/i);
});

test('starts with a team that cannot be read: the others work, and it names that team', async () => {
  const home = temporaryHome();
  const first = await startDaemon({ home });
  const client = connect(home);
  for (const name of ['broken', 'whole']) await client.call('team.create', { name });
  await first.close();
  const db = new DatabaseSync(home.journal);
  db.exec("UPDATE batches SET body = replace(body, 'broken', 'BROKEN') WHERE body LIKE '%broken%'");
  db.close();

  const second = await startDaemon({ home });
  const { health, activeTeams } = await client.call('daemon.status', {});
  expect(activeTeams).toBe(1);
  expect(health).toMatchObject({ status: 'degraded', problems: [expect.stringContaining('of team "broken"')] });
  expect(await client.call('team.show', { teamId: 'whole' })).toMatchObject({ id: 'whole' });
  await expect(client.call('team.show', { teamId: 'broken' })).rejects.toMatchObject({ code: 'corrupt' });
  // The list has it beside the team that can be read, and new teams can be made.
  expect(await client.call('team.list', {})).toMatchObject([
    { id: 'broken', status: 'cleaned-up', problem: expect.stringContaining('cannot be read') },
    { id: 'whole', status: 'active' },
  ]);
  await client.call('team.create', { name: 'new', leadSessionId: 'mine' });
  const agents = await get(home, `${second.url}/api/agents/mine/teammates`);
  expect(agents.status).toBe(200);
  expect((await get(home, `${second.url}/api/agents/nobodys/teammates`)).status).toBe(500);
  // Only `force` deletes it.
  await expect(client.call('team.delete', { teamId: 'broken' })).rejects.toMatchObject({ code: 'corrupt' });
  await client.call('team.delete', { teamId: 'broken', force: true });
  expect((await client.call('team.list', {})).map(({ id }) => id)).toEqual(['new', 'whole']);
  expect((await client.call('daemon.status', {})).health.status).toBe('ok');
  await second.close();
});

test('leaves no partial file if the disk is full', async (context) => {
  const home = smallDisk(1);
  context.skip(home === undefined, 'only root can mount a small disk');
  if (!home) return;
  fillUp(join(home.directory, 'filler'));
  expect(() => replacePrivateFile(home.card, '{}')).toThrow('ENOSPC');
  expect(readdirSync(home.directory)).toEqual(['filler']);
});

/** A home on a disk of so many MiB, or undefined if we may not mount one. */
function smallDisk(mebibytes: number): Home | undefined {
  const directory = join(temporaryFolder(), 'disk');
  mkdirSync(directory);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs', directory]);
  if (status !== 0) return undefined;
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
  return homeAt(directory);
}

function fillUp(path: string): void {
  for (const size of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
  expect(statSync(path).size).toBeGreaterThan(0);
}
