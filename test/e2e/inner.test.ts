import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { BIN } from '../daemon/serve.ts';
import { until } from '../until.ts';
import { plainGit } from '../workspaces/project.ts';
import { begun, completed, fixture, makeNested, up, waiting } from './nested.ts';
import { shareDaemon } from './stage.ts';

const newStage = shareDaemon();

test('a team inside a member gets the task, works with members and gates of its own, and its work and answer go back', async () => {
  const stage = newStage();
  const repository = makeNested(
    stage,
    '[ -e part.txt ] && n=twice; echo "$n by $TROUPE_MEMBER_NAME of $TROUPE_TEAM_ID" > part.txt',
    {
      inner: { hooks: { TaskCompleted: { command: './gate.sh' } } },
    },
  );
  await up(stage, repository);
  const task = await completed(stage);
  const inner = `${stage.team}-rev-1`;
  expect(task).toMatchObject({
    result: expect.stringMatching(/^news: Tasks: 1 completed/),
    inner: { teamId: inner, memberId: 'rev' },
    work: { state: 'landed' },
  });
  const client = stage.client();
  const { parent, status } = await until('the inner team is closed', async () => {
    const team = await client.call('team.show', { teamId: inner });
    return team.status === 'cleaned-up' ? team : undefined;
  });
  expect({ parent, status }).toEqual({
    parent: { teamId: stage.team, memberId: 'rev', taskId: '1' },
    status: 'cleaned-up',
  });
  const [own] = await client.call('task.list', { teamId: inner });
  expect(own).toMatchObject({ title: 'Write the part', assigneeId: 'ann', rejections: 1, work: { state: 'landed' } });
  const { work } = await client.call('team.show', { teamId: stage.team });
  const landed = await client.call('work.diff', { teamId: stage.team });
  expect(JSON.stringify(landed)).toContain(`twice by ann of ${inner}`);
  expect(work?.tip).not.toBe(work?.base);
  const report = await client.call('team.report', { teamId: stage.team });
  expect(report.inner).toEqual([
    { team: inner, parent, status, tasks: [{ id: '1', title: 'Write the part', status: 'completed' }] },
  ]);
  const { stdout } = await stage.troupe('report', stage.team);
  expect(stdout).toContain(
    `Teams inside of members\n  #1 rev: team ${inner} (closed), 1 of 1 task completed: Write the part\n`,
  );
  expect(await client.call('team.report', { teamId: inner })).toMatchObject({ inner: [] });
  // What was done inside is among the work of the outer team, so only that is named.
  const uninstall = await stage.troupe('uninstall', '--dry-run');
  expect(uninstall.stdout + uninstall.stderr).toContain(`team ${stage.team}: `);
  expect(uninstall.stdout + uninstall.stderr).not.toContain(`team ${inner}: `);
});

test('what a team inside a member uses counts once to that member; its budget stops the team, and a yes lets it go on', async () => {
  const stage = newStage();
  const repository = makeNested(stage, waiting(stage, 600), {
    outer: {
      members: [
        { name: 'rev', agent: { team: './review/troupe.yaml' }, budget: { tokens: 500 } },
        { name: 'bob', agent: { exec: ['./work.sh'] } },
      ],
    },
  });
  await up(stage, repository);
  const client = stage.client();
  const teamId = stage.team;
  const inner = `${teamId}-rev-1`;
  const request = await until('a person is asked about the budget of the outer member', async () => {
    const [asked] = await client.call('request.list', { teamId, kind: 'budget', status: 'pending' });
    return asked;
  });
  expect(request).toMatchObject({ memberId: 'rev', content: expect.stringContaining('600 tokens of 500 tokens') });
  await until('the inner team rests', async () => {
    const members = await client.call('member.list', { teamId: inner });
    return members.every(({ status }) => status === 'stopped');
  });
  stage.letGo();
  await stage.ask('approve', request.id, '--more', '5000');
  await completed(stage);
  // What was used last is counted a moment later.
  await until('all of it is counted', async () => {
    const { usage: total } = await client.call('team.status', { teamId: inner });
    const { inner: own } = await client.call('task.show', { teamId, taskId: '1' });
    return isDeepStrictEqual(own?.usage, total);
  });
  expect((await client.call('team.status', { teamId: inner })).usage).toMatchObject({ inputTokens: 1_200 });
  expect((await client.call('team.status', { teamId })).usage).toMatchObject({ inputTokens: 1_200 });
});

test('after a kill of the process of a member that is a team, and of the daemon, the same team goes on and ends once', async () => {
  const stage = newStage();
  const repository = makeNested(stage, waiting(stage));
  await up(stage, repository);
  await begun(stage);
  process.kill(await stage.pidOf(stage.team, 'rev'), 'SIGKILL');
  await begun(stage, 2);
  const daemon = stage.daemonPid();
  process.kill(daemon, 'SIGKILL');
  await until('another daemon runs', async () => {
    await stage.troupe('ps');
    return stage.daemonPid() !== daemon;
  });
  stage.letGo();
  const { inner, result } = await completed(stage);
  expect(inner).toMatchObject({ teamId: `${stage.team}-rev-1` });
  // The lead gets the task again from the new process, before or after the news that its member is done.
  expect(result).toMatch(/^(news: Tasks: 1 completed|heard: )/);
  const teams = await stage.client().call('team.list', {});
  expect(teams.filter(({ parent }) => parent?.teamId === stage.team)).toHaveLength(1);
});

test('a shutdown of the outer team ends the team inside, and a deletion deletes it', async () => {
  const stage = newStage();
  const repository = makeNested(stage, waiting(stage));
  await up(stage, repository);
  await begun(stage);
  const inner = `${stage.team}-rev-1`;
  await stage.ask('down', stage.team, '--now');
  const client = stage.client();
  await until('the inner team is closed', async () => {
    const { status } = await client.call('team.show', { teamId: inner });
    return status === 'cleaned-up' && !stage.records().some(({ teamId }) => teamId === inner);
  });
  await stage.ask('team', 'delete', stage.team, '--yes');
  expect((await client.call('team.list', {})).filter(({ name }) => name.startsWith(stage.team))).toEqual([]);
});

test('a message to a member that is a team reaches the lead of that team while it works', async () => {
  const stage = newStage();
  const repository = makeNested(stage, waiting(stage));
  await up(stage, repository);
  await begun(stage);
  const inner = `${stage.team}-rev-1`;
  const lists = [
    await stage.troupe('ps'),
    await stage.troupe('ps', '--team', stage.team),
    await stage.troupe('teams'),
    await stage.troupe('team', 'list'),
  ];
  for (const { stdout } of lists) {
    const [outer, ...inside] = stdout.split('\n').filter((line) => line.startsWith(stage.team));
    expect(outer).toMatch(new RegExp(`^${stage.team} `));
    expect(inside.at(-1)).toMatch(new RegExp(`^${inner} +${stage.team}/rev `));
  }
  await stage.ask('send', 'rev', 'Mind the gap', '--team', stage.team);
  const client = stage.client();
  const mail = await until('the lead has it', async () => {
    const all = await client.call('message.inbox', { teamId: inner, memberId: 'chief' });
    return all.find(({ content, acknowledgedAt }) => content === 'Mind the gap' && acknowledgedAt !== undefined);
  });
  expect(mail).toMatchObject({ fromId: '@user' });
  const [own] = await client.call('message.inbox', { teamId: stage.team, memberId: 'rev' });
  expect(own).toMatchObject({ content: 'Mind the gap', redeliveries: 0 });
  stage.letGo();
  await completed(stage);
});

test('questions and permissions of a team inside a member come up with their path, and are answered there', async () => {
  const stage = newStage();
  const troupe = `"${process.execPath}" "${BIN}"`;
  const asks = `
if [ -z "$TROUPE_TASK_ID" ]; then exit 0; fi
ID=$(${troupe} request raise permission "May I write?" --team $TROUPE_TEAM_ID --member ann --as ann --json | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
until ${troupe} request list --team $TROUPE_TEAM_ID --status approved --json | grep -qF "$ID"; do sleep 0.1; done
echo part > part.txt`;
  const repository = makeNested(stage, asks, { prompt: 'ask Which colour?\nadd ann Write the part' });
  await up(stage, repository);
  interface Waiting {
    readonly id: string;
    readonly teamId: string;
    readonly kind: string;
    readonly path: string;
  }
  const waiting = await until('both wait in the queue of the outer team', async () => {
    const all = await stage.ask<Waiting[]>('approve', '--team', stage.team);
    return all.length === 2 ? all.toSorted((a, b) => a.kind.localeCompare(b.kind)) : undefined;
  });
  expect(waiting.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    `permission ${stage.team}/rev › ann`,
    `question ${stage.team}/rev › chief`,
  ]);
  const { stdout } = await stage.troupe('approve', '--team', stage.team);
  expect(stdout).toContain(`permission of ${stage.team}/rev › ann (team ${stage.team}-rev-1, `);
  await until('the member says that its team waits', async () => {
    const { metadata } = await stage.client().call('member.show', { teamId: stage.team, memberId: 'rev' });
    return JSON.stringify(metadata?.['waiting'] ?? '').includes('Needs you');
  });
  await stage.ask('approve', `${stage.team}/rev › ann`, '--team', stage.team);
  await stage.ask('answer', 'chief', 'Blue', '--team', stage.team);
  await completed(stage);
  const { metadata } = await stage.client().call('member.show', { teamId: stage.team, memberId: 'rev' });
  expect(metadata?.['waiting'] ?? null).toBeNull();
});

/** Quiet hours far from now. */
function notNow(): string {
  return new Date().getHours() < 12 ? '18:00-19:00' : '06:00-07:00';
}

test('of three teams inside each other, a goal goes down, work and answers come up, and a shutdown of the outermost ends all', async () => {
  const stage = newStage();
  const repository = makeNested(stage, waiting(stage), {
    prompt: 'add sub Do the part',
    inner: { members: [{ name: 'sub', agent: { team: './deep.yaml' } }] },
    outer: { quietHours: notNow(), notify: { command: ['true'], on: ['hung'] } },
  });
  const leads = fixture(stage, 'converses') as { agent: { exec: [string] } };
  // What its lead is told is written down.
  const deepest = {
    team: 'deep',
    lead: {
      ...leads,
      name: 'boss',
      prompt: 'ask Which part?\nadd ann Write the part',
      agent: { exec: `tee -a "${stage.folder}/told" | "${leads.agent.exec[0]}"` },
    },
    members: [{ name: 'ann', agent: { exec: ['./work.sh'] } }],
  };
  writeFileSync(join(repository, 'review/deep.yaml'), JSON.stringify(deepest));
  plainGit(repository, 'add', '-A');
  plainGit(repository, 'commit', '-qm', 'deep');
  await up(stage, repository);
  await begun(stage);
  const client = stage.client();
  const [middle, deep] = [`${stage.team}-rev-1`, `${stage.team}-rev-1-sub-1`];
  expect(readFileSync(join(stage.folder, 'told'), 'utf8')).toContain('Do the part');
  // Of what its file does not say, that of the outermost holds.
  expect(await client.call('team.show', { teamId: deep })).toMatchObject({
    parent: { teamId: middle, memberId: 'sub', taskId: '1', around: `${stage.team}/rev` },
    quietHours: notNow(),
    metadata: { notify: { command: ['true'], on: ['hung'] }, notifyFolder: repository },
  });
  await until('the outermost team says what the innermost waits for', async () => {
    const { metadata } = await client.call('member.show', { teamId: stage.team, memberId: 'rev' });
    return JSON.stringify(metadata?.['waiting'] ?? '').includes('Needs you: question of boss');
  });
  await stage.ask('answer', 'boss', 'The first', '--team', stage.team);
  stage.letGo();
  const { result, work } = await completed(stage);
  expect({ result, state: work?.state }).toEqual({
    result: expect.stringMatching(/^news: Tasks: 1 completed/),
    state: 'landed',
  });
  // It may hear the answer and the end of the work in one turn.
  expect((await stage.task(middle, '1')).result).toMatch(/^(news: Tasks: 1 completed|heard: )/);
  expect(JSON.stringify(await client.call('work.diff', { teamId: stage.team }))).toContain('part.txt');
  const { inner } = await client.call('team.report', { teamId: stage.team });
  expect(inner?.map(({ team }) => team)).toEqual([middle, deep]);

  rmSync(join(stage.folder, 'go'));
  await stage.ask('task', 'add', 'Again', '--assign', 'rev', '--team', stage.team);
  await stage.pidOf(`${stage.team}-rev-2-sub-1`, 'ann');
  await stage.ask('down', stage.team, '--now');
  await until('all teams are closed, and none has a process', async () => {
    const all = (await client.call('team.list', {})).filter(({ name }) => name.startsWith(stage.team));
    const isOver = all.length === 5 && all.every(({ status }) => status === 'cleaned-up');
    return isOver && !stage.records().some(({ teamId }) => teamId.startsWith(stage.team));
  });
});
