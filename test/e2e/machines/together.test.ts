import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Replica } from '../../../src/client/replica.ts';
import { OVER_BUDGET, waitingOf } from '../../../src/core/waiting.ts';
import { setUpNatsJournal } from '../../../src/journal/nats/setup.ts';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { isProof } from '../../proof.ts';
import { until } from '../../until.ts';
import { acquaint, completedIn, eventsOf, hostsOf, LONG_MS, newJournal, SHELL, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

const TEAM = 'both';

/** What a turn of the programs below uses, and budgets that it exceeds. */
const SPENDS = '{"type":"usage","usage":{"costUsd":1,"inputTokens":1000}}';
const MEASURES = { tokens: { tokens: 500 }, usd: { usd: 0.5 }, turns: { turns: 1 }, minutes: { time: '8s' } };

describe('features of one machine work across machines', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('for a team, its budgets, and messages between teams', async () => {
    // What a member waits for is told after a part of the lease.
    const journal = await newJournal(servers, { leaseMs: 6_000 });
    const [a, b] = await Promise.all([startMachine('alpha', journal), startMachine('beta', journal)]);
    await acquaint(a, b);
    await oneTeam(a, b, journal);
    await setUpNatsJournal(journal, { leaseMs: LONG_MS });
    await Promise.all([oneBudget(a, b), everyMeasure(a, b), letters(a, b)]);
  });
});

/** A team with members, gates and requests on both. A third machine joins it. */
async function oneTeam(a: Machine, b: Machine, journal: string): Promise<void> {
  const gates = join(a.folder, 'gates');
  const member = (name: string, more: object = {}) => ({ name, agent: { exec: SHELL }, ...more });
  const file = a.teamFile({
    team: TEAM,
    lead: { ...member('boss'), host: 'beta', prompt: 'See that it is done' },
    members: [
      member('here', { host: 'alpha' }),
      member('there', { host: 'beta' }),
      member('painter', { labels: ['gpu'] }),
      member('planner', { host: 'beta', plan: 'required' }),
    ],
    tasks: [
      { title: 'done here', assign: 'here' },
      { title: 'done there', assign: 'there' },
    ],
    hooks: { TaskCompleted: { command: `echo "$TROUPE_TASK_ID $TROUPE_HOME" >> ${gates}` } },
  });
  const { code, stderr } = await a.troupe('up', file, '--detach', '--yes');
  expect(code, stderr).toBe(0);

  // A lead may be bound to a machine too. A gate runs on the machine of the task's holder.
  await until('both tasks are done', async () => (await doneOf(a)) === 2);
  await until('the lead runs', async () => (await memberOf(a, 'boss')).hostId === 'beta');
  await until('the planner rests', async () => (await memberOf(a, 'planner')).status === 'idle');
  expect(readFileSync(gates, 'utf8').trim().split('\n').sort()).toEqual([
    `1 ${a.home.directory}`,
    `2 ${b.home.directory}`,
  ]);

  // A member that no machine can run waits. Every machine shows the reason and what to do.
  const reason = /no machine has what it needs \(gpu\); connected: alpha, beta\. Run troupe serve --label gpu/;
  await until('it says why painter waits', async () => (await memberOf(b, 'painter')).metadata?.['waiting']);
  for (const from of [a, b]) {
    const [shown, listed] = [
      await from.troupe('member', 'show', 'painter', '--team', TEAM),
      await from.troupe('ps', '--json'),
    ];
    expect(shown.stdout.replaceAll(/\s+/g, ' ')).toMatch(reason);
    const sessions = JSON.parse(listed.stdout) as { memberId: string; hostId?: string; doing?: string }[];
    expect(sessions.find(({ memberId }) => memberId === 'painter')?.doing).toMatch(reason);
    // The list includes members on the other machine.
    expect(
      sessions
        .filter(({ hostId }) => hostId !== undefined)
        .map(({ memberId }) => memberId)
        .sort(),
    ).toEqual(['boss', 'here', 'planner', 'there']);
  }

  // A request from one machine is shown on every machine, and can be answered on any.
  const teamId = TEAM;
  const asked = await b.connection.call(
    'request.raise',
    { teamId, kind: 'permission', memberId: 'there', content: 'May I?' },
    { as: 'there' },
  );
  const plan = await b.connection.call('plan.submit', { teamId, content: 'First this' }, { as: 'planner' });
  const waiting = await a.ask<{ id: string }[]>('approve');
  expect(waiting.map(({ id }) => id)).toEqual(expect.arrayContaining([asked.id, plan.id]));
  await a.connection.call('request.answer', { teamId, requestId: asked.id, approve: true });
  await a.connection.call('plan.approve', { teamId, requestId: plan.id });
  const answered = await b.connection.call('request.list', { teamId });
  expect(answered.filter(({ id }) => [asked.id, plan.id].includes(id)).map(({ status }) => status)).toEqual([
    'approved',
    'approved',
  ]);
  expect((await memberOf(b, 'planner')).planModeRequired).toBe(false);

  // Transcripts on another machine can be read.
  for (const [from, memberId] of [
    [a, 'there'],
    [b, 'here'],
  ] as const) {
    const { entries } = await from.connection.call('transcript.read', { teamId, memberId });
    expect(entries.map(({ type }) => type)).toContain('shown');
  }

  // A dashboard's copy of the team is the same on every daemon.
  const [one, other] = await Promise.all([a, b].map(follow));
  expect(one).toEqual(other);
  expect(one).toMatchObject({ members: 5, completed: 2 });

  // When a machine with the label joins, the member runs and the reason disappears.
  await startMachine('gamma', journal, { labels: ['gpu'] });
  await until('it runs', async () => (await memberOf(a, 'painter')).hostId === 'gamma');
  expect((await memberOf(a, 'painter')).metadata?.['waiting']).toBeUndefined();
}

/** The budget of a team: turns on both are interrupted, a person is asked once, and both go on. */
async function oneBudget(a: Machine, b: Machine): Promise<void> {
  // The first turn of each member costs a dollar and never ends.
  const spends = '{"type":"usage","usage":{"costUsd":1}}';
  const script = `cat > /dev/null; f=${a.folder}/$TROUPE_TASK_ID; if [ -e $f ]; then echo done; else touch $f; echo '${spends}'; exec sleep 3600; fi`;
  const member = (name: string, host: string) => ({ name, host, agent: { exec: ['sh', '-c', script] } });
  const teamId = 'thrifty';
  const file = a.teamFile({
    team: teamId,
    budget: { usd: 1.5 },
    members: [member('here', 'alpha'), member('there', 'beta')],
    tasks: ['here', 'there'].map((assign) => ({ title: `done ${assign}`, assign })),
  });
  const { code, stderr } = await a.troupe('up', file, '--detach', '--yes');
  expect(code, stderr).toBe(0);
  const waits = async (name: string) =>
    waitingOf(await b.connection.call('member.show', { teamId, memberId: name })) === OVER_BUDGET;
  await until('both wait for more', async () => (await waits('here')) && (await waits('there')));
  const asked = await b.connection.call('request.list', { teamId, kind: 'budget' });
  expect(asked).toMatchObject([
    { status: 'pending', content: expect.stringMatching(/\$2\.00 of \$1\.50.*here \(\$1\.00\)/) as string },
  ]);
  await b.connection.call('request.answer', { teamId, requestId: asked[0]?.id ?? '', approve: true });
  const tasks = () => a.connection.call('task.list', { teamId });
  await until('both are done', async () => (await tasks()).every(({ status }) => status === 'completed'));
  const events = await eventsOf(a, teamId);
  expect(events.filter(({ type }) => type === 'task:failed' || type === 'teammate:stopped')).toEqual([]);
  expect(events.filter((event) => event.type === 'request:raised')).toHaveLength(1);
  expect(completedIn(events).toSorted()).toEqual(['1', '2']);
}

/** Every measure of the budgets of teams, members and tasks on another machine: a person is asked once, and it goes on. */
async function everyMeasure(a: Machine, b: Machine): Promise<void> {
  const cases = Object.entries(MEASURES).flatMap(([measure, budget]) =>
    (['team', 'members', 'tasks'] as const).map((of) => ({ teamId: `${of}-${measure}`, of, budget })),
  );
  // Without proof: each measure once, and each owner.
  const some = cases.filter((_, at) => at % 3 === Math.floor(at / 3) % 3);
  await Promise.all(
    (isProof ? cases : some).map(async ({ teamId, of, budget }) => {
      const stage = a.aside();
      // The first turn of what has a budget spends and then never ends; where turns are counted, it ends.
      const mark = `${stage.folder}/${of === 'tasks' ? '$TROUPE_TASK_ID' : 'there'}`;
      const first = 'turns' in budget ? 'echo done' : 'exec sleep 3600';
      const script = `cat > /dev/null; f=${mark}; if [ -e $f ]; then echo done; else touch $f; echo '${SPENDS}'; ${first}; fi`;
      const limited = (kind: string) => (kind === of ? { budget } : {});
      // A task needs a second turn only if it is sent back.
      const sendsBack = of === 'tasks' && 'turns' in budget;
      const gate = `f=${mark}.judged; [ -e $f ] || { touch $f; echo once more >&2; exit 2; }`;
      const file = stage.teamFile({
        team: teamId,
        ...limited('team'),
        members: [{ name: 'there', host: 'beta', agent: { exec: ['sh', '-c', script] }, ...limited('members') }],
        tasks: ['One', 'Two'].map((title) => ({ title, ...limited('tasks') })),
        ...(sendsBack && { hooks: { TaskCompleted: { command: gate } } }),
      });
      const { code, stderr } = await stage.troupe('up', file, '--detach', '--yes');
      expect(code, stderr).toBe(0);
      // A task has a budget of its own, so each is asked about.
      const asks = of === 'tasks' ? 2 : 1;
      const requests = () => a.connection.call('request.list', { teamId, kind: 'budget' });
      const tasks = () => a.connection.call('task.list', { teamId });
      await until(`${teamId} is done`, async () => {
        // Before a turn is interrupted, more of a budget would let it run on.
        const member = await a.connection.call('member.show', { teamId, memberId: 'there' });
        const isBusy = member.status !== 'idle' && waitingOf(member) === undefined;
        for (const { id, status } of isBusy ? [] : await requests()) {
          if (status !== 'pending') continue;
          await a.connection.call('request.answer', { teamId, requestId: id, approve: true, grants: 100_000 });
        }
        return (await tasks()).every(({ status }) => status === 'completed');
      });
      expect(await requests(), teamId).toHaveLength(asks);
      const events = await eventsOf(b, teamId);
      expect(events.filter(({ type }) => type === 'task:failed' || type === 'teammate:stopped')).toEqual([]);
      expect(completedIn(events)).toHaveLength(2);
    }),
  );
}

/** Messages between teams: a member asks a lead on the other machine, and reads the answer. */
async function letters(a: Machine, b: Machine): Promise<void> {
  const lead = { ...b.member('boss', 'asks-team'), host: 'beta' };
  const answers = b.teamFile({ team: 'answers', peers: ['asks'], lead });
  expect((await b.troupe('up', answers, '--detach', '--yes')).code).toBe(0);
  // It asks in its first turn, and writes what it hears into a file.
  const heard = join(a.folder, 'heard');
  const send = `${process.execPath} ${fileURLToPath(new URL('../../../bin/troupe.js', import.meta.url))} send`;
  const script = `[ -e ${heard} ] || ${send} lead@answers 'is it ready?' || exit 1; cat >> ${heard}; echo done`;
  const asks = a.teamFile({
    team: 'asks',
    peers: ['answers'],
    members: [{ name: 'ann', host: 'alpha', agent: { exec: ['sh', '-c', script] } }],
    tasks: [{ title: 'Ask them', assign: 'ann' }],
  });
  expect((await a.troupe('up', asks, '--detach', '--yes')).code).toBe(0);
  const inboxOf = ({ connection }: Machine, teamId: string, memberId: string) =>
    connection.call('message.inbox', { teamId, memberId });
  await until('the answer is there', async () => (await inboxOf(a, 'asks', 'ann')).length > 0);
  // A program that is run for each task is shown its mail with the next one.
  await b.connection.call('task.create', { teamId: 'asks', title: 'Read it', assigneeId: 'ann' });
  await until('it was shown', () => existsSync(heard) && readFileSync(heard, 'utf8').includes('yes, is it ready?'));
  expect(await hostsOf(a, 'answers')).toEqual(['beta']);
  expect(await hostsOf(b, 'asks')).toEqual(['alpha']);
  // Each message is there once, for every machine.
  for (const machine of [a, b]) {
    expect(await inboxOf(machine, 'answers', 'boss')).toMatchObject([{ fromId: 'ann@asks', content: 'is it ready?' }]);
    expect(await inboxOf(machine, 'asks', 'ann')).toMatchObject([
      { fromId: 'boss@answers', content: 'yes, is it ready?' },
    ]);
  }
}

async function doneOf({ connection }: Machine): Promise<number | undefined> {
  return (await connection.call('team.status', { teamId: TEAM })).tasks['completed'];
}

function memberOf({ connection }: Machine, memberId: string) {
  return connection.call('member.show', { teamId: TEAM, memberId });
}

/** The copy of the team that a dashboard on this machine would have. */
async function follow({ connection }: Machine): Promise<object> {
  const { seq } = await connection.call('team.status', { teamId: TEAM });
  const replica = new Replica(TEAM);
  for await (const batch of connection.subscribe(TEAM)) {
    replica.apply(batch);
    if (batch.seq >= seq) break;
  }
  const { members, tasks } = replica.live;
  const completed = [...tasks.values()].filter(({ status }) => status === 'completed').length;
  return { members: members.size, completed };
}
