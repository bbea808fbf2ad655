import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { natsJournal } from '../../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../../src/journal/nats/setup.ts';
import { pauseProcess } from '../../daemon/processes.ts';
import { connect, readLog, serve } from '../../daemon/serve.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { isAlive, setStage } from '../stage.ts';
import { watchTeam } from './report.ts';
import { LONG_MS, newJournal, SHELL, startMachine } from './stage.ts';

const agent = { kind: 'exec' as const, command: SHELL };

describe('the name of a machine', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('is lost with the lease: a daemon that returns and finds its name taken ends its members and says so', async () => {
    const journal = await newJournal(servers, { leaseMs: 2_000 });
    const first = await startMachine('twin', journal);
    await first.connection.call('team.create', { name: 'ours' });
    await first.connection.call('member.spawn', { teamId: 'ours', name: 'ann', agent, cwd: '/' });
    const pid = await first.pidOf('ours', 'ann');
    await pauseProcess(first.daemon.pid);
    const seen = await natsJournal(journal, PATIENT);
    await until('its lease is over', async () => (await seen.hosts.list()).length === 0);
    await seen.close();
    // From now on the second daemon keeps its lease even on a busy machine. Without it the first would regain the name.
    await setUpNatsJournal(journal, { leaseMs: LONG_MS });
    const second = await startMachine('twin', journal);
    first.daemon.child.kill('SIGCONT');
    await watchTeam('ours', [first, second]).settled('its member has ended', async () => !isAlive(pid));
    // Its process ends by itself when the lease is over. The daemon learns only then that its name is taken.
    await until('the daemon says why', async () => {
      const { health } = await first.connection.call('daemon.status', {});
      return /took the name twin.*start it under another name/.test(health.problems.join());
    });
    await expect(first.connection.call('task.create', { teamId: 'ours', title: 'late' })).rejects.toThrow(
      /took the name/,
    );
    const failures = () => readLog(first.home).filter(({ event }) => event === 'hosts.failed').length;
    const before = failures();

    // The second daemon keeps the name and the member after the first has stopped.
    await first.troupe('stop');
    expect(failures() - before).toBeLessThanOrEqual(1);
    await until('ann runs there', () =>
      second.records().some(({ memberId, identity }) => memberId === 'ann' && identity),
    );
    const { hosts } = await second.connection.call('daemon.status', {});
    expect(hosts).toMatchObject([{ name: 'twin' }]);
    await second.connection.call('task.create', { teamId: 'ours', title: 'in time' });
  });

  test('is refused to a copy of the state directory; a killed daemon gets it back at once', async () => {
    const journal = await newJournal(servers, { leaseMs: LONG_MS });
    const first = await startMachine('alpha', journal);
    await expect(startMachine('alpha', journal, { copyOf: first })).rejects.toThrow(
      /Another daemon .* has the name alpha/,
    );
    first.daemon.child.kill('SIGKILL');
    await first.daemon.ended;
    await serve(first.home);
  });

  test('means nothing in a SQLite copy of the journal: its members start on the machine that opens it', async () => {
    const journal = await newJournal(servers, { leaseMs: LONG_MS });
    const machine = await startMachine('alpha', journal);
    await machine.connection.call('team.create', { name: 'moved' });
    for (const more of [{ name: 'ann' }, { name: 'bob', host: 'alpha' }]) {
      await machine.connection.call('member.spawn', { teamId: 'moved', agent, cwd: '/', ...more });
      await machine.pidOf('moved', more.name);
    }
    const stage = setStage();
    const file = join(stage.folder, 'copy.db');
    const copied = await stage.troupe('journal', 'copy', journal, `sqlite:${file}`);
    expect(copied).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/still use .*alpha.*Stop the daemons first/) as string,
    });
    await serve(stage.home, { args: ['--journal', `sqlite:${file}`] });
    for (const name of ['ann', 'bob']) await stage.pidOf('moved', name);
    const { members } = await connect(stage.home).call('team.show', { teamId: 'moved' });
    expect(members.filter(({ id }) => ['ann', 'bob'].includes(id)).map(({ hostId }) => hostId)).toEqual([
      'local',
      'local',
    ]);
  });
});
