import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { JoinInput } from '../../src/core/member.ts';
import { SendMessageInput } from '../../src/core/message.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { startDaemon } from '../../src/daemon.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { DaemonStatus } from '../../src/operations/daemon-status.ts';
import { rounds, tell } from '../proof.ts';
import { until } from '../until.ts';
import { connect, get, temporaryHome } from './serve.ts';

const TEAMS = rounds(200, 1_000);
const METRICS = { totalTeamsCreated: 2, totalTeammatesSpawned: 2, totalTeamTasksCompleted: 1, totalTeamMessages: 3 };

test('reports where it runs, its health and its totals', async () => {
  const before = Date.now();
  const home = temporaryHome();
  const daemon = await startDaemon({ home });
  const client = connect(home);
  await work(client);
  const status = await client.call('daemon.status', {});
  expect(DaemonStatus.parse(status)).toMatchObject({
    version: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
    pid: process.pid,
    home: home.directory,
    socket: home.socket,
    url: daemon.url,
    tokenFile: home.tokenFile,
    journal: { kind: 'sqlite', location: home.journal, durability: 'fsync-before-ack' },
    connections: 1,
    health: { status: 'ok', problems: [] },
    activeTeams: 2,
    teamMetrics: METRICS,
    counting: false,
  });
  expect(status.uptime).toBeGreaterThan(0);
  expect(status.memory).toBeGreaterThan(10_000_000);
  expect(Date.parse(status.startedAt)).toBeGreaterThanOrEqual(before);
  await daemon.close();
});

test('keeps its totals across restarts and deleted teams', async () => {
  const home = temporaryHome();
  let daemon = await startDaemon({ home });
  const client = connect(home);
  await work(client);
  // What was done was done, also if it is done again.
  await client.call('task.reopen', { teamId: 'alpha', taskId: '1' });
  expect(await client.call('daemon.status', {})).toMatchObject({ teamMetrics: METRICS });
  await daemon.close();

  daemon = await startDaemon({ home });
  expect(await client.call('daemon.status', {})).toMatchObject({ activeTeams: 2, teamMetrics: METRICS });
  await client.call('team.close', { teamId: 'beta', force: true });
  expect(await client.call('daemon.status', {})).toMatchObject({ activeTeams: 1, teamMetrics: METRICS });
  await client.call('team.delete', { teamId: 'alpha', force: true });
  await client.call('team.delete', { teamId: 'beta', force: true });
  expect(await client.call('daemon.status', {})).toMatchObject({ activeTeams: 0, teamMetrics: METRICS });
  await client.call('team.create', { name: 'alpha' });
  const after = { activeTeams: 1, teamMetrics: { ...METRICS, totalTeamsCreated: 3 } };
  expect(await client.call('daemon.status', {})).toMatchObject(after);
  await daemon.close();

  daemon = await startDaemon({ home });
  expect(await client.call('daemon.status', {})).toMatchObject(after);
  await daemon.close();
});

test('serves its metrics for Prometheus and its health, but only with the token', async () => {
  const home = temporaryHome();
  const daemon = await startDaemon({ home });
  const client = connect(home);
  await work(client);
  await client.call('task.claim', { teamId: 'alpha', taskId: '99' }, { as: 'worker' }).catch(() => {});
  await client.call('no.such' as 'daemon.status', {}).catch(() => {});
  const text = await (await get(home, `${daemon.url}/metrics`)).text();
  const lines = text.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'troupe_teams 2',
      'troupe_active_teams 2',
      'troupe_messages 3',
      'troupe_tasks{status="pending"} 1',
      'troupe_tasks{status="completed"} 1',
      'troupe_connections 2',
      'troupe_degraded 0',
      'troupe_claims_total 1',
      'troupe_calls_total{operation="team.create",code="ok"} 2',
      'troupe_calls_total{operation="task.claim",code="ok"} 1',
      'troupe_calls_total{operation="task.claim",code="not_found"} 1',
      'troupe_calls_total{operation="unknown",code="not_found"} 1',
      'troupe_journal_info{kind="sqlite",durability="fsync-before-ack"} 1',
    ]),
  );
  const count = Number(/^troupe_commit_seconds_count (\d+)$/m.exec(text)?.[1]);
  expect(lines).toContain(`troupe_commits_total{outcome="ok"} ${count}`);
  expect(lines).toContain(`troupe_commit_seconds_bucket{le="+Inf"} ${count}`);
  for (const line of lines.filter((line) => line !== '' && !line.startsWith('#'))) {
    expect(line).toMatch(/^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[\d.e+-]+$/);
  }
  expect(await (await get(home, `${daemon.url}/health`)).json()).toEqual({ status: 'ok' });
  expect((await fetch(`${daemon.url}/metrics`)).status).toBe(401);
  expect((await fetch(`${daemon.url}/health`)).status).toBe(401);
  await daemon.close();
});

test('counts many teams when it starts, without being asked', async () => {
  const home = temporaryHome();
  const journal = sqliteJournal(home.journal);
  const ledger = new Ledger(journal, { exclusive: true });
  await Promise.all(Array.from({ length: TEAMS }, (_, n) => fill(ledger, `team-${n}`)));
  await ledger.close();
  await journal.close();
  const startedAt = performance.now();
  const daemon = await startDaemon({ home });
  const client = connect(home);
  await client.call('team.list', {});
  const startMs = performance.now() - startedAt;
  // An answer does not wait for the count for longer than 2 s.
  const status = await until('all are counted', async () => {
    const told = await client.call('daemon.status', {});
    return !told.counting && told;
  });
  expect(status).toMatchObject({
    activeTeams: TEAMS,
    teamMetrics: { totalTeamsCreated: TEAMS, totalTeammatesSpawned: TEAMS, totalTeamMessages: 10 * TEAMS },
    counting: false,
  });
  await daemon.close();
  tell({ teams: TEAMS, startMs: [Math.round(startMs)] });
});

/** Two teams, two teammates, two tasks (one of them done), three messages. */
async function work(client: Client): Promise<void> {
  for (const name of ['alpha', 'beta']) {
    await client.call('team.create', { name });
    await client.call('member.add', { teamId: name, name: 'worker' });
  }
  await client.call('task.create', { teamId: 'alpha', title: 'one' });
  await client.call('task.create', { teamId: 'alpha', title: 'two' });
  await client.call('task.claim', { teamId: 'alpha', taskId: '1' }, { as: 'worker' });
  await client.call('task.complete', { teamId: 'alpha', taskId: '1' }, { as: 'worker' });
  await client.call('message.send', { teamId: 'beta', toId: 'worker', content: 'hi' }, { as: 'lead' });
  await client.call('message.broadcast', { teamId: 'beta', content: 'hi all' }, { as: 'lead' });
  await client.call('message.send', { teamId: 'alpha', toId: 'lead', content: 'done' }, { as: 'worker' });
}

/** A team of two with ten tasks and ten messages. */
async function fill(ledger: Ledger, name: string): Promise<void> {
  const by = '@user';
  const ten = Array.from({ length: 10 }, (_, n) => n);
  await ledger.execute(
    name,
    [
      { type: 'team.create', by, ...CreateTeamInput.parse({ name }) },
      { type: 'member.join', by, ...JoinInput.parse({ name: 'worker' }) },
      ...ten.map((n) => ({ type: 'task.create' as const, by, ...CreateTaskInput.parse({ title: `task ${n}` }) })),
      ...ten.map((n) => {
        const { type: messageType, ...message } = SendMessageInput.parse({ toId: 'worker', content: `message ${n}` });
        return { type: 'message.send' as const, by, messageId: `${name}-${n}`, messageType, ...message };
      }),
    ],
    () => undefined,
  );
}
