import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import type { NetConnectOpts, Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { pauseProcess, track } from './processes.ts';
import { BIN, connect, environmentFor, get, readLog, serve, spawnServe, temporaryHome } from './serve.ts';

const MISHAP = `--import=${join(import.meta.dirname, 'programs/mishap.ts')}`;

test.each(['exception', 'rejection'])(
  'F12: ends at once on an %s that nobody handles, and says so in the log',
  async (kind) => {
    const home = temporaryHome();
    const daemon = await serve(home, { env: { NODE_OPTIONS: MISHAP, TROUPE_TEST_MISHAP: kind } });
    await connect(home).call('team.create', { name: 'demo' });
    daemon.child.kill('SIGUSR2');
    expect(await daemon.ended).toBe(1);
    expect(readLog(home).at(-1)).toMatchObject({
      level: 'error',
      event: `defect.${kind}`,
      error: { name: 'TypeError', message: 'nobody foresaw this: [redacted]' },
    });
    expect(daemon.output.stderr).toBe('troupe: ended by a bug in Troupe; see its log\n');

    await serve(home);
    expect(await connect(home).call('team.show', { teamId: 'demo' })).toMatchObject({ id: 'demo' });
  },
);

test('logs when its event loop was blocked', async () => {
  const home = temporaryHome();
  const daemon = await serve(home, { env: { NODE_OPTIONS: MISHAP, TROUPE_TEST_MISHAP: 'busy' } });
  const client = connect(home);
  await client.call('team.create', { name: 'demo' });
  daemon.child.kill('SIGUSR2');
  const late = await until('it is in the log', () =>
    readLog(home).find(({ event, ms }) => event === 'loop.late' && (ms as number) > 500),
  );
  expect(late).toMatchObject({ level: 'warn' });
  expect(await client.call('team.show', { teamId: 'demo' })).toMatchObject({ id: 'demo' });
});

test('F5: works as before after SIGSTOP and SIGCONT, and no other daemon takes its place meanwhile', async () => {
  const home = temporaryHome();
  const daemon = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: 'demo' });
  await client.call('member.add', { teamId: 'demo', name: 'worker' });
  await client.call('task.create', { teamId: 'demo', title: 'one' });
  const task = await client.call('task.claim', { teamId: 'demo' }, { as: 'worker' });

  await pauseProcess(daemon.pid);
  const pending = Array.from({ length: 20 }, (_, n) =>
    client.call('task.create', { teamId: 'demo', title: `while stopped ${n}` }),
  );
  const rival = spawnServe(home);
  expect(await rival.ended).toBe(75);
  expect(rival.output.stderr).toContain(`Process ${daemon.pid} is already the daemon`);
  daemon.child.kill('SIGCONT');
  expect(new Set((await Promise.all(pending)).map(({ id }) => id)).size).toBe(20);

  // A task that is taken away stays so: a write under the old epoch is refused.
  await client.call('task.release', { teamId: 'demo', taskId: '1' }, { as: 'lead' });
  await expect(
    client.call('task.complete', { teamId: 'demo', taskId: '1', epoch: task?.epoch ?? 0 }, { as: 'worker' }),
  ).rejects.toMatchObject({ code: 'stale_epoch' });
  expect(await client.call('daemon.status', {})).toMatchObject({ pid: daemon.pid, health: { status: 'ok' } });
});

test('F19: goes on serving without free file descriptors, says so, and accepts new clients when some are free again', async () => {
  const home = temporaryHome();
  // Sets the soft and the hard limit, so that Node cannot raise the soft one.
  const command = ['-c', 'ulimit -n 70 && exec "$0" "$@"', process.execPath, BIN, 'serve', '--json'];
  const daemon = track(spawn('sh', command, { env: environmentFor(home), stdio: ['ignore', 'pipe', 'pipe'] }));
  await until('it is ready', () => daemon.output.stdout.includes('ready'));
  const client = connect(home);
  await client.call('team.create', { name: 'demo' });

  const { port } = new URL((await client.call('daemon.status', {})).url ?? '');
  const crowd = await Promise.all(
    Array.from({ length: 100 }, (_, n) => knock(n % 2 === 0 ? { path: home.socket } : { port: Number(port) })),
  );
  for (let n = 0; n < 20; n++) await client.call('task.create', { teamId: 'demo', title: `in the crowd ${n}` });
  expect(await client.call('task.list', { teamId: 'demo' })).toHaveLength(20);
  expect(await client.call('daemon.status', {})).toMatchObject({ pid: daemon.pid });
  const problems = async (): Promise<string> => (await client.call('daemon.status', {})).health.problems.join();
  await until('it says so', async () => /files.*new connections are closed/i.test(await problems()));

  for (const socket of crowd) socket.destroy();
  await until('that is over', async () => (await problems()) === '');
  const latecomer = connect(home);
  expect(await latecomer.call('task.list', { teamId: 'demo' })).toHaveLength(20);
  const { url } = await latecomer.call('daemon.status', {});
  expect((await get(home, `${url}/health`)).status).toBe(200);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
});

/** Opens a connection that may be refused, and sends nothing. */
function knock(where: { path: string } | { port: number }): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', ...where } as NetConnectOpts);
    socket.on('error', () => resolve(socket)).once('connect', () => resolve(socket));
  });
}
