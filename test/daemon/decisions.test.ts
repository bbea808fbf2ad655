import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Home } from '../../src/client/home.ts';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { claim, join, leave, task, teamCommands } from '../ledger/commands.ts';
import { rounds } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { HomeLedger } from '../ui/home-ledger.ts';
import { until } from '../until.ts';
import { run } from './processes.ts';
import type { Running } from './processes.ts';
import { connect, temporaryHome } from './serve.ts';

const KILLS = rounds(2, 60);

type Request = ResultOf<'request.list'>[number];

test(`carries out every decision once, of all kinds of requests, when it is killed at ${KILLS} moments after the answers`, async () => {
  const random = seededRandom();
  const home = temporaryHome();
  const teams = Array.from({ length: KILLS }, (_, i) => `crew-${i + 1}`);
  await writeQuestions(home, teams);
  const client = connect(home);
  let daemon = await loadSpare(home);
  daemon.child.stdin?.write('go\n');
  for (const teamId of teams) {
    const spare = await loadSpare(home);
    const requests = await client.call('request.list', { teamId, status: 'pending' });
    expect(requests).toHaveLength(7);
    requests.sort(() => random() - 0.5);
    // Killed right after one of the answers. The client repeats those that were lost with the daemon, under their ids.
    const last = Math.floor(random() * requests.length);
    const victim = daemon;
    const answers = requests.map(async (request, i) => {
      await answer(client, request, random() < 0.75);
      if (i === last) victim.child.kill('SIGKILL');
    });
    expect(await victim.ended, victim.output.stderr).toBe('SIGKILL');
    daemon = spare;
    daemon.child.stdin?.write('go\n');
    await Promise.all(answers);
  }
  for (const teamId of teams) await check(client, teamId);
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
      ask('budget', 'gated-1', { detail: { of: 'team', what: 'tokens', used: 10, limit: 10 } }),
    ];
    await ledger.execute(teamId, commands, () => undefined);
  }
  await ledger.close();
}

function ask(kind: 'gate' | 'budget' | 'restart', memberId: string, more: object = {}): NewCommand {
  return { type: 'request.raise', by: SYSTEM, kind, memberId, content: 'Go on?', ...more };
}

async function loadSpare(home: Home): Promise<Running> {
  const spare = run('spare-daemon', [home.directory], { stdio: ['pipe', 'pipe', 'pipe'] });
  await until('it has loaded', () => spare.output.stdout === 'loaded\n');
  return spare;
}

function answer(client: Client, { teamId, id: requestId }: Request, approve: boolean): Promise<unknown> {
  return client.call('request.answer', { teamId, requestId, approve }, { commandId: `answer-${requestId}` });
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
