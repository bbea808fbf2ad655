import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';

const newStage = shareDaemon();

interface Told {
  readonly memberId: string;
  readonly prompt: string;
  readonly digest: string | null;
  readonly mode: string;
  readonly role: string;
}

/** A member entry for a fixture, without a name. */
function fixture(stage: Stage, name: string): object {
  const { name: _name, ...runs } = stage.member('', name) as { name: string };
  return runs;
}

function toldTo(stage: Stage, memberId: string): Told[] {
  return (stage.work() as unknown as Told[]).filter((line) => line.memberId === memberId);
}

test('an agent as lead creates tasks, spawns a teammate, and answers when all tasks are done', async () => {
  const stage = newStage();
  const file = stage.teamFile({
    team: 'led',
    lead: { name: 'boss', prompt: 'Make:\none\ntwo\nthree', delegate: true, ...fixture(stage, 'leads') },
    agents: { quick: fixture(stage, 'quick') },
  });
  const { code, stdout, stderr } = await stage.troupe('up', '--yes', file, '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const outcome = JSON.parse(stdout) as { reason: string; answer: string; tasks: { assigneeId: string }[] };
  expect(outcome).toMatchObject({
    reason: 'done',
    answer: 'heard: Tasks: 3 completed, 0 in progress, 0 to do, 0 failed.',
  });
  expect(outcome.tasks.map(({ assigneeId }) => assigneeId)).toEqual(['helper', 'helper', 'helper']);
  const [first, ...later] = toldTo(stage, 'boss');
  expect(first).toMatchObject({ mode: 'delegate' });
  expect(first?.prompt).toMatch(/^Make:\none\ntwo\nthree\n\nWhere your team stands:\nTeam led/);
  expect(first?.role).toContain('SpawnTeammate starts a teammate (quick)');
  // One digest reports three completions and an idle notice, so the lead has one turn, not four.
  expect(later.map(({ digest }) => digest)).toEqual([expect.stringContaining('#2 completed: two (helper) — did two')]);
});

test('a person sees and answers the requests of all teams; the answer to a plan approves or rejects it', async () => {
  const stage = newStage();
  const members = [{ ...stage.member('planner', 'plans'), plan: 'required', mode: 'full' }];
  const file = stage.teamFile({ team: 'asks', lead: 'person', members, tasks: [{ title: 'Tidy' }] });
  await stage.ask('up', '--yes', file, '--detach');
  interface Waiting {
    readonly id: string;
    readonly kind: string;
    readonly content: string;
  }
  const next = async (): Promise<Waiting> => {
    await until('a plan waits', async () => {
      const requests = await stage.client().call('request.list', { teamId: 'asks', status: 'pending' });
      return requests.length > 0;
    });
    return (await stage.ask<[Waiting]>('approve'))[0];
  };
  const first = await next();
  expect(first).toMatchObject({ kind: 'plan', content: 'I will do Tidy' });
  await stage.ask('approve', first.id, '--deny', '--feedback', 'with care');
  const second = await next();
  expect(second.content).toBe('I will do Tidy: with care');
  const { stdout: list } = await stage.troupe('approve');
  expect(list).toMatch(/^plan of planner \(team asks, .*\)\n {2}│ I will do Tidy: with care\n/);
  expect(list).toContain('  To approve the plan: troupe approve planner\n  To reject the plan: troupe approve planner');
  expect((await stage.troupe('approve', second.id)).stdout).toBe('The plan of planner is approved: the work begins.\n');
  await until('it is done', async () => (await stage.task('asks', '1')).result === 'did Tidy');
  // After the approval the mode is the one in the team file.
  expect(stage.work().map((turn) => (turn as unknown as Told).mode)).toEqual(['plan', 'plan', 'full']);
  expect((await stage.troupe('approve')).stdout).toBe('Nothing waits for you.\n');
  expect((await stage.troupe('approve', second.id)).code).toBe(3);
});

test('a lead may spawn only agents that a person set up', async () => {
  const stage = newStage();
  const lead = { name: 'boss', prompt: 'Make:\none', ...fixture(stage, 'leads') };
  const outcome = await stage.troupe('up', '--yes', stage.teamFile({ team: 'alone', lead }), '--json');
  expect(outcome.code).toBe(1);
  const { answer, reason } = JSON.parse(outcome.stdout) as { answer: string; reason: string };
  expect(reason).toBe('stuck');
  expect(answer).toContain('boss has no agents for new teammates');
});

test('a lead that died restarts and gets the status of its team', async () => {
  const stage = newStage();
  const lead = { name: 'boss', prompt: 'Make:\nslow', ...fixture(stage, 'leads') };
  const agents = { quick: fixture(stage, 'slow') };
  await stage.ask('up', '--yes', stage.teamFile({ team: 'survives', lead, agents }), '--detach');
  const client = stage.client();
  await until('the helper works', async () => {
    const { tasks } = await client.call('team.status', { teamId: 'survives' });
    return tasks['in_progress'] === 1;
  });
  process.kill(await stage.pidOf('survives', 'boss'), 'SIGKILL');
  await until('the new lead was told', async () => toldTo(stage, 'boss').length === 2);
  expect(toldTo(stage, 'boss')[1]?.digest).toContain('#1 [in_progress] slow (helper)');
  stage.letGo();
  await until('the work is done', async () => toldTo(stage, 'boss').length === 3);
  expect(toldTo(stage, 'boss')[2]?.digest).toContain('Tasks: 1 completed');
});
