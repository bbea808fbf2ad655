import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Home } from '../../src/client/home.ts';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { claim, join, leave, task, teamCommands } from '../ledger/commands.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { HomeLedger } from '../ui/home-ledger.ts';
import { until } from '../until.ts';
import { connect, temporaryHome } from './serve.ts';
import { loadSpare, startSpare } from './spare.ts';

const KILLS = rounds(1, 60);

type Request = ResultOf<'request.list'>[number];

test(`carries out every decision once, of all kinds of requests, when it is killed right after one of the answers (kills: ${KILLS})`, async () => {
  const random = seededRandom();
  const home = temporaryHome();
  const teams = Array.from({ length: KILLS }, (_, i) => `crew-${i + 1}`);
  await writeQuestions(home, teams);
  const client = connect(home);
  let daemon = await loadSpare(home);
  startSpare(daemon);
  for (const teamId of teams) {
    const liveId = `live-${teamId}`;
    const [spare] = await Promise.all([loadSpare(home), startMembers(client, liveId)]);
    const requests = await client.call('request.list', { teamId, status: 'pending' });
    expect(requests).toHaveLength(7);
    const asked = await until('the members ask', async () => {
      const list = await client.call('request.list', { teamId: liveId, status: 'pending' });
      return list.length === 2 && list;
    });
    const decisions = [...requests, ...asked].map((request) => () => answer(client, request, random() < 0.75));
    decisions.push(
      () => client.call('shutdown.request', { teamId: liveId, memberId: 'leaver' }, { commandId: 'shutdown' }),
      () => client.call('team.update', { teamId: liveId, leadId: 'chief' }, { commandId: 'lead' }),
    );
    decisions.sort(() => random() - 0.5);
    // Killed right after one of the answers. The client repeats those that were lost with the daemon, under their ids.
    const last = Math.floor(random() * decisions.length);
    const victim = daemon;
    const decided = decisions.map(async (decide, i) => {
      await decide();
      if (i === last) victim.child.kill('SIGKILL');
    });
    expect(await victim.ended, victim.output.stderr).toBe('SIGKILL');
    daemon = spare;
    startSpare(daemon);
    await Promise.all(decided);
    await checkLive(client, liveId, home);
    await client.call('team.down', { teamId: liveId, force: true });
  }
  for (const teamId of teams) await check(client, teamId);
  tell({ kills: KILLS });
  // The members outlive the daemon, which is killed when the test ends.
  for (const teamId of teams) await client.call('team.down', { teamId, force: true });
});

/** Requests of all kinds that Troupe itself carries out: two gates, two of a member's budgets, the team's, two restarts. */
async function writeQuestions(home: Home, teams: readonly string[]): Promise<void> {
  const ledger = new HomeLedger(home);
  const agent = { kind: 'exec', command: ['true'] };
  for (const teamId of teams) {
    const commands: NewCommand[] = [
      ...teamCommands(teamId, ['gated-1', 'gated-2']),
      { type: 'team.update', by: USER, budget: { tokens: 10 } },
      ...['1', '2'].flatMap(
        (n) =>
          [
            task(`Judged ${n}`, { assigneeId: `gated-${n}` }),
            claim(`gated-${n}`, n),
            ask('gate', `gated-${n}`, { taskId: n, detail: { epoch: 1, result: 'as it is' } }),
            join(`thrifty-${n}`, { budget: { turns: 1 } }),
            {
              type: 'usage.record',
              by: SYSTEM,
              memberId: `thrifty-${n}`,
              usage: { ...NO_USAGE, turns: 1, inputTokens: 5 },
            },
            ask('budget', `thrifty-${n}`, { detail: { of: 'member', what: 'turns', used: 1, limit: 1 } }),
            join(`crashed-${n}`, { agent, status: 'spawning' }),
            leave(`crashed-${n}`, { reason: 'crashed' }),
            ask('restart', `crashed-${n}`),
          ] as NewCommand[],
      ),
      // Troupe asks about the team's budget only if a member with an agent could go on.
      join('spender', { agent, status: 'spawning' }),
      ask('budget', 'spender', { detail: { of: 'team', what: 'tokens', used: 10, limit: 10 } }),
    ];
    await ledger.execute(teamId, commands, () => undefined);
  }
  await ledger.close();
}

function ask(kind: 'gate' | 'budget' | 'restart', memberId: string, more: object = {}): NewCommand {
  return { type: 'request.raise', by: SYSTEM, kind, memberId, content: 'Go on?', ...more };
}

/** Members with processes, which carry out what is decided: one asks for a permission, one plans, two only wait. */
async function startMembers(client: Client, teamId: string): Promise<void> {
  await client.call('team.create', { name: teamId });
  const start = (name: string, agent: object, more: object = {}) =>
    client.call('member.add', { teamId, name, status: 'spawning', agent, ...more });
  const fixture = (name: string): string => resolve(import.meta.dirname, '../fixtures/agents', name);
  const node = process.execPath;
  await start('asker', { kind: 'acp', command: [node, fixture('acp.ts')] });
  const plans = { kind: 'exec', command: [node, fixture('plans.js')], env: { WORK_LOG: '/dev/null' } };
  await start('planner', plans, { planApprovalRequired: true });
  for (const name of ['leaver', 'chief']) await start(name, { kind: 'exec', command: ['true'] });
  await client.call('task.create', { teamId, title: 'ask', assigneeId: 'asker' });
  await client.call('task.create', { teamId, title: 'Tidy', assigneeId: 'planner' });
  for (const memberId of ['leaver', 'chief']) {
    await until(`${memberId} waits`, async () => {
      const { status } = await client.call('member.show', { teamId, memberId });
      return status === 'idle';
    });
  }
}

function answer(client: Client, { teamId, id: requestId, kind }: Request, approve: boolean): Promise<unknown> {
  const once = { commandId: `answer-${requestId}` };
  if (kind !== 'plan') return client.call('request.answer', { teamId, requestId, approve }, once);
  const verdict = approve ? 'plan.approve' : 'plan.reject';
  return client.call(verdict, { teamId, requestId, feedback: 'with care' }, once);
}

/** Each answer has its consequence, and has it once. */
async function check(client: Client, teamId: string): Promise<void> {
  const requests = await client.call('request.list', { teamId });
  const of = (kind: Request['kind']): Request[] =>
    requests.filter((request) => request.kind === kind && request.answeredBy === USER);
  const batches = await client.call('event.list', { teamId, after: 0 });
  const events = batches.flatMap((batch) => batch.events);
  const count = (type: string, which: object): number =>
    events.filter((event) => event.type === type && Object.entries(which).every(([key, value]) => event[key] === value))
      .length;

  for (const { taskId = '', status } of of('gate')) {
    const isYes = status === 'approved';
    expect(await client.call('task.show', { teamId, taskId })).toMatchObject({
      status: isYes ? 'completed' : 'pending',
      ...(isYes && { result: 'as it is' }),
    });
    expect(count('task:completed', { taskId }) + count('task:released', { taskId })).toBe(1);
  }
  for (const { memberId, status, detail } of of('budget')) {
    const whose = detail?.['of'] === 'team' ? undefined : memberId;
    const what = detail?.['what'];
    const uses = await client.call('budget.show', { teamId, ...(whose !== undefined && { memberId }) });
    const limit = detail?.['limit'] as number;
    expect(uses.find((use) => use.of === detail?.['of'] && use.what === what)).toMatchObject({
      limit: status === 'approved' ? 2 * limit : limit,
    });
  }
  for (const { memberId, status } of of('restart')) {
    const isYes = status === 'approved';
    expect(count('teammate:joined', { memberId, by: USER })).toBe(isYes ? 1 : 0);
    await until('it is back', async () => {
      const member = await client.call('member.show', { teamId, memberId });
      return member.status === (isYes ? 'idle' : 'stopped');
    });
  }
}

/** The members' processes carried out each decision once. */
async function checkLive(client: Client, teamId: string, home: Home): Promise<void> {
  const requestsOf = (kind: Request['kind']) => client.call('request.list', { teamId, kind });
  const resultOf = (taskId: string) =>
    until(`task ${taskId} is done`, async () => {
      const task = await client.call('task.show', { teamId, taskId });
      return task.status === 'completed' && task.result;
    });

  const permissions = await requestsOf('permission');
  expect(permissions).toHaveLength(1);
  expect(await resultOf('1')).toBe(permissions[0]?.status === 'approved' ? 'allowed' : 'denied');

  const [plan] = await requestsOf('plan');
  if (plan?.status === 'rejected') {
    const again = await until('it plans again', async () => (await requestsOf('plan'))[1]);
    expect(again.content).toBe('I will do Tidy: with care');
    await answer(client, again, true);
  }
  expect(await resultOf('2')).toBe('did Tidy');
  expect(await requestsOf('plan')).toHaveLength(plan?.status === 'rejected' ? 2 : 1);

  await until('it has left', async () => {
    const { status } = await client.call('member.show', { teamId, memberId: 'leaver' });
    return status === 'stopped';
  });
  expect(await requestsOf('shutdown')).toMatchObject([{ status: 'approved' }]);

  const records = openProcessRecords(home.processes);
  await until('the new lead was restarted', () =>
    records.list().some((record) => record.teamId === teamId && record.memberId === 'chief' && record.leadTerm === 1),
  );
  const mail = await client.call('message.inbox', { teamId, memberId: 'chief' });
  expect(mail.filter(({ type, content }) => type === 'system' && content.startsWith('Team '))).toHaveLength(1);
  // A daemon that is killed while it restarts the lead leaves it without a process, as after a crash. Nobody else left.
  const batches = await client.call('event.list', { teamId, after: 0 });
  const stops = batches.flatMap(({ events }) => events).filter(({ type }) => type === 'teammate:stopped');
  expect(stops.filter(({ memberId }) => memberId !== 'chief')).toMatchObject([{ memberId: 'leaver' }]);
}
