import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BIN } from '../daemon/serve.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { until } from '../until.ts';
import { shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';

interface Outcome {
  readonly reason: string;
  readonly tasks: readonly { id: string; status: string; result?: string; assigneeId?: string; rejections: number }[];
  readonly requests: readonly { id: string; kind: string; content: string }[];
}

const newStage = shareDaemon();

test('the life of a team: create it, add members and tasks, complete the work, shut it down', async () => {
  const stage = newStage();
  await stage.ask('team', 'create', stage.team);
  const agent = { kind: 'exec', command: [join(import.meta.dirname, '../fixtures/agents/quick.js')] };
  for (const name of ['r1', 'r2', 'r3']) {
    const spec = JSON.stringify({ ...agent, env: { WORK_LOG: stage.workLog } });
    await stage.ask('member', 'spawn', name, '--team', stage.team, '--agent', spec);
  }
  const refused = await stage.troupe('member', 'spawn', 'r1', '--team', stage.team, '--agent', JSON.stringify(agent));
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('r1');
  for (let i = 1; i <= 6; i++) {
    const needs = i > 3 ? ['--needs', String(i - 3)] : [];
    await stage.ask('task', 'create', `Review ${i}`, '--team', stage.team, ...needs);
  }
  const client = stage.client();
  await until(
    'all tasks are completed',
    async () => (await client.call('team.status', { teamId: stage.team })).tasks['completed'] === 6,
  );
  await until('all are idle', async () => {
    const members = await client.call('member.list', { teamId: stage.team });
    return members.slice(1).every(({ status }) => status === 'idle');
  });
  const order = stage.work().map(({ taskId }) => Number(taskId));
  expect(order.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const id of [4, 5, 6]) expect(order.indexOf(id)).toBeGreaterThan(order.indexOf(id - 3));
  const { text, settled } = await stage.ask<{ text: string; settled: boolean }>(
    'team',
    'digest',
    stage.team,
    '--after',
    '0',
  );
  expect(settled).toBe(true);
  expect(text).toContain('#6 completed: Review 6');
  expect(text).toContain('Tasks: 6 completed, 0 in progress, 0 to do, 0 failed.');
  expect(await client.call('message.inbox', { teamId: stage.team, memberId: 'lead' })).toEqual([]);
  await stage.ask('shutdown', 'request', 'r1', '--team', stage.team);
  await until('it has gone', async () => {
    const { status } = await client.call('member.show', { teamId: stage.team, memberId: 'r1' });
    return status === 'stopped';
  });
  expect(await stage.ask('down', stage.team)).toMatchObject({ status: 'cleaned-up' });
  expect(stage.processes()).toEqual([]);
});

describe('troupe up', () => {
  test('does the work, reports the results, and leaves no teammate process', async () => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'quick'), stage.member('bob', 'broadcasts')],
      tasks: [
        { id: 'one', title: 'One', assign: 'bob' },
        { id: 'two', title: 'Two', needs: ['one'], assign: 'ann' },
      ],
    });
    const { code, stdout, stderr } = await stage.troupe('up', '--yes', path);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/1 +● completed +One +bob .* sent 1\n/);
    expect(stdout).toContain('2 of 2 tasks completed');
    expect(stage.work()).toMatchObject([{ taskId: '2', messages: [{ content: 'One 1', redeliveries: 0 }] }]);
    expect(stage.processes()).toEqual([]);
    const again = await stage.troupe('up', '--yes', path);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain('was closed');
  });

  test('ends with exit code 1 when a task failed, and says why', async () => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'crashes')],
      tasks: [
        { id: 'a', title: 'One' },
        { title: 'Two', needs: ['a'] },
      ],
    });
    const { code, stdout } = await stage.troupe('up', '--yes', path);
    expect(code).toBe(1);
    expect(stdout).toContain('full of cats');
    expect(stdout).toContain('0 of 2 tasks completed');
  });

  test('refuses a file with a mistake, and hooks without approval', async () => {
    const stage = newStage();
    const path = stage.teamFile({ team: stage.team, tasks: [{ title: 'A', assign: 'nobody' }] });
    const wrong = await stage.troupe('up', '--yes', path);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/troupe\.yaml:\d+:\d+: there is no member "nobody"/);
    expect((await stage.troupe('up', '--yes', 'missing.yaml')).stderr).toContain('missing.yaml');
    const canary = join(stage.folder, 'canary');
    stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'quick')],
      tasks: [{ title: 'A' }],
      hooks: { TaskCompleted: { command: `touch ${canary}` } },
    });
    const unapproved = await stage.troupe('up', path);
    expect(unapproved.code).not.toBe(0);
    expect(unapproved.stderr).toContain('is not approved');
    expect(existsSync(canary)).toBe(false);
    expect((await stage.troupe('up', path, '--yes')).code).toBe(0);
    expect(existsSync(canary)).toBe(true);
  });

  test('asks the hooks about every new task of the file, and creates nothing if they reject one', async () => {
    const stage = newStage();
    const command = `cat >> asked; grep -q '"task_subject":"No' asked && { echo not this one >&2; exit 2; }; exit 0`;
    const file = {
      team: stage.team,
      members: [stage.member('ann', 'quick')],
      tasks: [{ title: 'Yes' }, { title: 'No way' }],
      hooks: { TaskCreated: { command } },
    };
    const refused = await stage.troupe('up', stage.teamFile(file), '--yes');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('so nothing was created');
    expect(refused.stderr).toContain('"No way": not this one');
    const teams = await stage.ask<{ name: string }[]>('team', 'list');
    expect(teams.map(({ name }) => name)).not.toContain(stage.team);
    rmSync(join(stage.folder, 'asked'));
    const { code, stderr } = await stage.troupe('up', stage.teamFile({ ...file, tasks: [{ title: 'Yes' }] }), '--yes');
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(stage.folder, 'asked'), 'utf8')).toMatch(/"task_id":"1","task_subject":"Yes"/);
  });

  test('says once that a gate failed and let work pass, and repeats it in the summary and in the team status', async () => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'quick')],
      tasks: [{ title: 'One' }, { title: 'Two' }],
      hooks: { TaskCompleted: { command: 'exit 3' } },
    });
    const { code, stdout } = await stage.troupe('up', path, '--yes');
    expect(code).toBe(0);
    const text = 'The TaskCompleted hook "exit 3" failed with exit code 3. The work passed unjudged';
    const lines = stdout.split('\n').filter((line) => line.includes(text));
    expect(lines).toEqual([expect.stringMatching(/ @system {2}says: The /), expect.stringMatching(/^The /)]);
    expect((await stage.troupe('team', 'status', stage.team)).stdout).toContain(text);
  });

  test('with --again keeps the closed team if any part of the new one is refused', async () => {
    const stage = newStage();
    const file = { team: stage.team, members: [stage.member('ann', 'quick')], tasks: [{ title: 'First' }] };
    expect((await stage.troupe('up', '--yes', stage.teamFile(file))).code).toBe(0);
    const before = await stage.task(stage.team, '1');
    const refuse = async (next: object, said: string): Promise<void> => {
      const { code, stderr } = await stage.troupe('up', stage.teamFile({ ...file, ...next }), '--again', '--yes');
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(said) });
      expect(await stage.task(stage.team, '1')).toEqual(before);
    };
    await refuse({ hooks: { TaskCreated: { command: 'echo not now >&2; exit 2' } } }, '"First": not now');
    const two = [stage.member('ann', 'quick'), stage.member('bob', 'quick')];
    await refuse({ members: two, limits: { maxTeammates: 1 } }, 'its limit');
    const { code, stderr } = await stage.troupe('up', '--yes', stage.teamFile(file), '--again');
    expect(code, stderr).toBe(0);
    expect(await stage.task(stage.team, '1')).not.toEqual(before);
  });

  test('with --again refuses a team that is still open, and says how to start over', async () => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'quick')],
      tasks: [{ title: 'First' }],
    });
    expect((await stage.troupe('up', '--yes', path, '--keep')).code).toBe(0);
    const before = await stage.task(stage.team, '1');
    expect(await stage.troupe('up', '--yes', path, '--again')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        `Team ${stage.team} is still open, so it cannot be started over: close it first with troupe down ${stage.team}`,
      ),
    });
    expect(await stage.task(stage.team, '1')).toEqual(before);
    expect((await stage.troupe('down', stage.team)).code).toBe(0);
    expect((await stage.troupe('up', '--yes', path, '--again')).code).toBe(0);
    expect(await stage.task(stage.team, '1')).not.toEqual(before);
  });

  test('with --detach returns at once; ps, peek and logs show the team, and a second up adds new members and tasks', async () => {
    const stage = newStage();
    // No other team has a member of this name, so commands find it without a team name.
    const file = { team: stage.team, members: [stage.member('dot', 'slow')], tasks: [{ id: 'one', title: 'One' }] };
    expect((await stage.troupe('up', '--yes', stage.teamFile(file), '--detach')).code).toBe(0);
    const first = await until('the work has begun', () => stage.work()[0]);
    const ps = await stage.troupe('ps');
    expect(ps.stdout).toMatch(
      new RegExp(`${stage.team} +dot +active +#1 One +exec +${await stage.pidOf(stage.team, 'dot')} `),
    );
    await until('its words are shown', async () => (await stage.troupe('peek', 'dot')).stdout.includes('working'));
    const more = {
      ...file,
      members: [...file.members, stage.member('bob', 'quick')],
      tasks: [...file.tasks, { title: 'Two' }],
    };
    expect((await stage.troupe('up', '--yes', stage.teamFile(more), '--detach')).code).toBe(0);
    await until('the new one works', () =>
      stage.work().some(({ memberId, taskId }) => memberId === 'bob' && taskId === '2'),
    );
    expect(stage.work().filter(({ taskId }) => taskId === first.taskId)).toHaveLength(1);
    stage.letGo();
    await until('all is done', async () => (await stage.task(stage.team, '1')).status === 'completed');
    const logs = await stage.troupe('logs', 'dot');
    expect(logs.stdout).toContain('Task #1: One');
    expect(logs.stdout).toContain('■ done');
  });

  test.each([
    ['on Ctrl-C', 'SIGINT'],
    ['when it is told to end', 'SIGTERM'],
  ] as const)('shuts the team down %s and leaves no process', async (_when, how) => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'slow')],
      tasks: [{ title: 'Long' }],
    });
    const up = stage.start(['up', '--yes', path]);
    await until('the work has begun', () => stage.work()[0]);
    up.child.kill(how);
    expect(await up.ended).toBe(130);
    expect(up.output.stdout).toContain('Interrupted: its members are stopped. The same command continues');
    expect(stage.processes()).toEqual([]);
    expect(stage.records().filter(({ teamId }) => teamId === stage.team)).toEqual([]);
  });

  test('ends when somebody else closes the team, and says that it is closed', async () => {
    const stage = newStage();
    const path = stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'slow')],
      tasks: [{ title: 'Long' }],
    });
    const up = stage.start(['up', '--yes', path]);
    await until('the work has begun', () => stage.work()[0]);
    await stage.troupe('down', stage.team, '--now');
    expect(await up.ended).toBe(1);
    expect(up.output.stdout).toContain('The team is closed.');
    expect(up.output.stdout).not.toContain('The same command');
  });
});

describe('a gate', () => {
  test('F42: that rejects once leads to a second attempt; while it judges, it can read the task', async () => {
    const stage = newStage();
    gate(
      stage,
      `${process.execPath} ${BIN} task show $TROUPE_TASK_ID --team $TROUPE_TEAM_ID --json > shown || exit 2
test -e tried || { touch tried; echo try harder >&2; exit 2; }`,
    );
    const outcome = await up(stage);
    expect(outcome).toMatchObject({ reason: 'done', tasks: [{ status: 'completed', rejections: 1 }] });
    expect(stage.work().map(({ feedback, epoch }) => ({ feedback, epoch }))).toEqual([
      { feedback: null, epoch: 1 },
      { feedback: 'try harder', epoch: 1 },
    ]);
    const { stdout } = await stage.troupe('logs', 'ann', '--team', stage.team);
    expect(stdout).toContain('✗ task #1 was sent back: try harder\n');
  });

  test.each([
    ['yes completes it as it is', true],
    ['no gives it back to be done again', false],
  ])('that rejects a task five times leaves it to a person: %s', async (_what, approve) => {
    const stage = newStage();
    gate(stage, 'test -e open || { echo never good enough >&2; exit 2; }');
    const outcome = await up(stage, 1);
    expect(outcome).toMatchObject({ reason: 'person', requests: [{ kind: 'gate' }], tasks: [{ rejections: 5 }] });
    const [request] = outcome.requests;
    expect(request?.content).toContain('never good enough');
    expect(stage.work()).toHaveLength(5);
    const shown = (await stage.troupe('task', 'show', '1', '--team', stage.team)).stdout;
    expect(shown).toMatch(/sent back +5 times\n/);
    expect(shown).toContain('feedback on the last try\n    never good enough\n');
    expect(shown).toContain(`It waits for a person (gate): troupe approve ${request?.id}\n`);
    writeFileSync(join(stage.folder, 'open'), '');
    const answer = approve ? ['--approve'] : ['--no-approve', '--feedback', 'mind the tests'];
    await stage.ask('request', 'answer', request?.id ?? '', '--team', stage.team, ...answer);
    const task = await until('it is completed', async () => {
      const found = await stage.task(stage.team, '1');
      return found.status === 'completed' && found;
    });
    expect(task.result).toBe('did Judged');
    expect(stage.work()).toHaveLength(approve ? 5 : 6);
    if (!approve) {
      expect(stage.work().at(-1)).toMatchObject({ feedback: 'mind the tests' });
      expect(stage.work().at(-1)?.prompt).toContain('was sent back. What has to change:\n\nmind the tests');
      expect(task).toMatchObject({ description: '', feedback: 'mind the tests' });
    }
    expect((await stage.troupe('up', join(stage.folder, 'troupe.yaml'), '--yes')).code).toBe(0);
  });

  function gate(stage: Stage, script: string): void {
    const path = join(stage.folder, 'gate.sh');
    writeFileSync(
      path,
      `#!/bin/sh\nexport TROUPE_SOURCE=${TROUPE_SOURCE} NODE_COMPILE_CACHE=${COMPILED_CODE}\n${script}\nexit 0\n`,
    );
    chmodSync(path, 0o755);
    stage.teamFile({
      team: stage.team,
      members: [stage.member('ann', 'quick')],
      tasks: [{ title: 'Judged' }],
      hooks: { TaskCompleted: { command: './gate.sh', timeout: '10m', onFailure: 'block' } },
    });
  }

  async function up(stage: Stage, expected = 0): Promise<Outcome> {
    const { code, stdout, stderr } = await stage.troupe('up', join(stage.folder, 'troupe.yaml'), '--yes', '--json');
    expect(code, stderr).toBe(expected);
    return JSON.parse(stdout) as Outcome;
  }
});
