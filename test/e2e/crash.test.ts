import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { silentSince } from '../../src/core/waiting.ts';
import { readLog } from '../daemon/serve.ts';
import { until } from '../until.ts';
import { isAlive, processesOf, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** One team with its own stage. All scenes of a test share a daemon. */
type Scene = (stage: Stage, team: string) => Promise<void>;

test('killed teammates and leads come back, their work is done once, and messages are shown once or marked', async () => {
  const stage = setStage();
  await play(stage, { killed, frozen, thawed, program, silent, givenUp, lead, terminated, mail });
  expect(readLog(stage.home).filter(({ event }) => event === 'teams.failed')).toEqual([]);
});

/** F2: SIGKILL during a task. The task is released, the lead gets one message, the teammate restarts and finishes. */
const killed: Scene = async (stage, team) => {
  await detach(stage, team, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
  const program = await until('the work has begun', () => stage.work()[0]);
  const before = await stage.task(team, '1');
  process.kill(await stage.pidOf(team, 'worker'), 'SIGKILL');
  const client = stage.client();
  await until('the task has another epoch', async () => (await stage.task(team, '1')).epoch > before.epoch);
  await until('its program is gone', () => !isAlive(program.pid as number));
  await until('the work has begun again', () => stage.work()[1]);
  stage.letGo();
  await completed(stage, team, ['1']);
  expect(stage.work().map(({ epoch }) => epoch)).toEqual([before.epoch, (await stage.task(team, '1')).epoch]);
  const told = await client.call('message.inbox', { teamId: team, memberId: 'lead' });
  expect(told.map(({ content }) => content)).toEqual([
    expect.stringMatching(/^worker crashed \(ended by SIGKILL.*Given back: #1\. It is started again\.$/),
  ]);
};

/** SIGSTOP of the member's own process: everybody sees it, then it is replaced, and the task goes on under a new epoch. */
const frozen: Scene = async (stage, team) => {
  const worker = { ...stage.member('worker', 'slow'), silence: { process: '20s' } };
  await detach(stage, team, { members: [worker], tasks: [{ title: 'Carry on' }] });
  await until('the work has begun', () => stage.work()[0]);
  const before = await stage.task(team, '1');
  const pid = await stage.pidOf(team, 'worker');
  process.kill(pid, 'SIGSTOP');
  await until('everybody sees it', () => isSilent(stage, team));
  await until('the task has another epoch', async () => (await stage.task(team, '1')).epoch > before.epoch);
  await until('it is gone', () => !isAlive(pid));
  await until('the work has begun again', () => stage.work()[1]);
  expect(await isSilent(stage, team)).toBe(false);
  stage.letGo();
  await completed(stage, team, ['1']);
  const told = await stage.client().call('message.inbox', { teamId: team, memberId: 'lead' });
  expect(told[0]?.content).toMatch(
    /^worker crashed \(its process gave no sign of life.*Given back: #1\. It is started again\.$/,
  );
};

/** A process that goes on in time is left alone. */
const thawed: Scene = async (stage, team) => {
  const worker = { ...stage.member('worker', 'slow'), silence: { process: '100s' } };
  await detach(stage, team, { members: [worker], tasks: [{ title: 'Carry on' }] });
  await until('the work has begun', () => stage.work()[0]);
  const before = await stage.task(team, '1');
  const pid = await stage.pidOf(team, 'worker');
  process.kill(pid, 'SIGSTOP');
  try {
    await until('everybody sees it', () => isSilent(stage, team));
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until('nobody sees it any more', async () => !(await isSilent(stage, team)));
  stage.letGo();
  await completed(stage, team, ['1']);
  expect([await stage.pidOf(team, 'worker'), (await stage.task(team, '1')).epoch]).toEqual([pid, before.epoch]);
};

async function isSilent(stage: Stage, teamId: string): Promise<boolean> {
  const member = await stage.client().call('member.show', { teamId, memberId: 'worker' });
  return silentSince(member) !== undefined;
}

/** SIGKILL of a program that does a task, as by the kernel for memory: no verdict. It is done again, under the usual cap. */
const program: Scene = async (stage, team) => {
  await detach(stage, team, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
  const first = await until('the work has begun', () => stage.work()[0]);
  process.kill(first.pid as number, 'SIGKILL');
  await until('the work has begun again', () => stage.work()[1]);
  stage.letGo();
  await completed(stage, team, ['1']);
  const told = await stage.client().call('message.inbox', { teamId: team, memberId: 'lead' });
  expect(told.map(({ content }) => content)).toEqual([
    expect.stringMatching(/^worker crashed \(.*was ended by SIGKILL.*Given back: #1\. It is started again\.$/s),
  ]);
};

/** A program that says nothing for too long is ended, and started again. */
const silent: Scene = async (stage, team) => {
  const worker = { ...stage.member('worker', 'slow'), silence: { tool: '1s' } };
  await detach(stage, team, { members: [worker], tasks: [{ title: 'Carry on' }] });
  const first = await until('the work has begun', () => stage.work()[0]);
  const second = await until('the work has begun again', () => stage.work()[1]);
  expect(isAlive(first.pid as number)).toBe(false);
  expect(second.epoch).toBe(first.epoch);
  stage.letGo();
  // If it has been silent for too long again, a person is asked meanwhile.
  await completed(stage, team, ['1']);
};

/** SIGKILL in every turn: after three restarts the member stays stopped. A person is asked, and a yes restarts it. */
const givenUp: Scene = async (stage, team) => {
  await detach(stage, team, { members: [stage.member('worker', 'kills-teammate')], tasks: [{ title: 'Impossible' }] });
  const client = stage.client();
  const member = await until('it is given up', async () => {
    const found = await client.call('member.show', { teamId: team, memberId: 'worker' });
    return found.status === 'stopped' && !found.returning && found;
  });
  expect(member.stopReason).toMatch(/^crashed: ended by SIGKILL/);
  // The lead is told a moment after the departure is recorded.
  const told = await until('the lead is told', async () => {
    const mail = await client.call('message.inbox', { teamId: team, memberId: 'lead' });
    const isLast = mail.at(-1)?.content.includes('It crashed too often and is not restarted: a person must look.');
    return isLast && mail;
  });
  // Restarts count for a minute. On a very slow machine there may be more than three.
  expect(told.length).toBeGreaterThanOrEqual(4);
  expect(await stage.task(team, '1')).toMatchObject({ status: 'pending', epoch: 2 * told.length });
  expect(stage.records().filter(({ teamId }) => teamId === team)).toEqual([]);
  const [request] = await client.call('request.list', { teamId: team, status: 'pending' });
  expect(request).toMatchObject({ kind: 'restart', memberId: 'worker' });
  expect(request?.content).toMatch(
    /^worker keeps crashing: \d+ times within a minute\. The last crash: ended by SIGKILL/,
  );
  const answered = await stage.troupe('approve', request?.id ?? '');
  expect(answered.stdout, answered.stderr).toBe('worker is started again.\n');
  await until('it is tried once more, and asked about once more', async () => {
    const requests = await client.call('request.list', { teamId: team, kind: 'restart' });
    return requests.map(({ status }) => status).join() === 'approved,pending';
  });
  const again = await stage.task(team, '1');
  expect(again.status).toBe('pending');
  expect(again.epoch).toBeGreaterThanOrEqual(2 * told.length + 2);
};

/** F3: SIGKILL of a lead. The others finish their tasks, and the lead restarts. */
const lead: Scene = async (stage, team) => {
  const { name: _name, ...runs } = stage.member('boss', 'quick') as { name: string };
  await detach(stage, team, {
    lead: { name: 'boss', ...runs },
    members: [stage.member('worker', 'slow')],
    tasks: [{ title: 'Carry on', assign: 'worker' }],
  });
  const begun = await until('the work has begun', () => stage.work().find(({ memberId }) => memberId === 'worker'));
  const boss = await stage.pidOf(team, 'boss');
  process.kill(boss, 'SIGKILL');
  await until('it is back', async () => (await stage.pidOf(team, 'boss')) !== boss);
  expect(isAlive(begun.pid as number)).toBe(true);
  stage.letGo();
  await completed(stage, team, ['1']);
  expect(stage.work().filter(({ taskId }) => taskId === '1')).toHaveLength(1);
};

/** A SIGTERM that Troupe did not send is a crash too. */
const terminated: Scene = async (stage, team) => {
  await detach(stage, team, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
  await until('the work has begun', () => stage.work()[0]);
  process.kill(await stage.pidOf(team, 'worker'), 'SIGTERM');
  await until('the work has begun again', () => stage.work()[1]);
  stage.letGo();
  await completed(stage, team, ['1']);
  const told = await stage.client().call('message.inbox', { teamId: team, memberId: 'lead' });
  expect(told.map(({ content }) => content)).toEqual([expect.stringMatching(/^worker crashed \(exit code 143\)/)]);
};

/** A member crashes twice while it has messages. */
const mail: Scene = async (stage, team) => {
  await detach(stage, team, {
    members: [stage.member('worker', 'slow')],
    tasks: [{ title: 'First', assign: 'worker' }],
  });
  await until('the work has begun', () => stage.work()[0]);
  for (const text of ['one', 'two']) await stage.ask('send', 'worker', text, '--team', team);
  for (const turn of [1, 2]) {
    process.kill(await stage.pidOf(team, 'worker'), 'SIGKILL');
    await until('it works again', () => stage.work()[turn]);
  }
  stage.letGo();
  await completed(stage, team, ['1']);
  const seen = stage.work().flatMap(({ messages }) => messages);
  for (const text of ['one', 'two']) {
    const copies = seen.filter(({ content }) => content === text);
    expect(copies.filter(({ redeliveries }) => redeliveries === 0)).toHaveLength(1);
  }
};

test('F10: after kill -9 the next daemon adopts working teammates, restarts dead ones, and all tasks complete', async () => {
  const stage = setStage();
  await stage.ask('status');
  const teams = { both: stage.aside(), dead: stage.aside(), returns: stage.aside(), judged: stage.aside() };
  const { both, dead, returns, judged } = teams;
  const mark = `${judged.folder}/hook-runs`;
  const carryOn = (on: Stage) => ({ members: [on.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
  await detach(both, 'both', {
    members: [both.member('ann', 'slow'), both.member('bob', 'slow')],
    tasks: [{ title: 'One' }, { title: 'Two' }, { title: 'Three' }],
  });
  await Promise.all([
    detach(dead, 'dead', carryOn(dead)),
    detach(returns, 'returns', carryOn(returns)),
    detach(judged, 'judged', {
      members: [judged.member('worker', 'quick')],
      tasks: [{ title: 'Judged' }],
      hooks: { TaskCompleted: { command: `test -e ${mark} || { touch ${mark}; sleep 1003; }` } },
    }),
  ]);
  await until('both work', () => both.work().length === 2);
  const program = await until('the one that dies with the daemon works', () => dead.work()[0]);
  await until('the one that dies before it works', () => returns.work()[0]);
  await until('the hook runs', () => existsSync(mark));
  const pids = [await stage.pidOf('both', 'ann'), await stage.pidOf('both', 'bob')];
  const daemon = stage.daemonPid();
  process.kill(await stage.pidOf('returns', 'worker'), 'SIGKILL');
  // It waits for its restart for a quarter of a second, which a busy machine may miss.
  await until('it is to come back, or is back', async () => {
    const { returning } = await stage.client().call('member.show', { teamId: 'returns', memberId: 'worker' });
    return returning === true || returns.work().length > 1;
  });
  const doomed = await stage.pidOf('dead', 'worker');
  process.kill(daemon, 'SIGKILL');
  process.kill(doomed, 'SIGKILL');
  await until('the daemon is gone', () => !isAlive(daemon));
  expect((await stage.ask<{ pid: number }>('status')).pid).not.toBe(daemon);
  expect([await stage.pidOf('both', 'ann'), await stage.pidOf('both', 'bob')]).toEqual(pids);
  await until('the work of the dead one has begun again', () => dead.work()[1]);
  expect(isAlive(program.pid as number)).toBe(false);
  for (const on of [both, dead, returns]) on.letGo();
  await Promise.all([
    completed(both, 'both', ['1', '2', '3']),
    completed(dead, 'dead', ['1']),
    completed(returns, 'returns', ['1']),
    completed(judged, 'judged', ['1']),
  ]);
  await until('the hook of the dead daemon is gone', () =>
    processesOf(stage.home).every(({ command }) => !command.includes('sleep 1003')),
  );
  // No member was started twice, and no task was done twice.
  expect(both.work()).toHaveLength(3);
  expect(judged.work()).toHaveLength(1);
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(readLog(stage.home).filter(({ event }) => event === 'teams.failed')).toEqual([]);
  expect((await stage.troupe('stop')).code).toBe(0);
  expect(processesOf(stage.home)).toEqual([]);
});

test('without a daemon, a working or idle teammate ends on SIGTERM', async () => {
  const stage = setStage();
  await stage.ask('status');
  await detach(stage, 'crew', {
    members: [stage.member('worker', 'slow'), stage.member('rests', 'slow')],
    tasks: [{ title: 'Carry on', assign: 'worker' }],
  });
  const program = await until('the work has begun', () => stage.work()[0]);
  const pids = [await stage.pidOf('crew', 'worker'), await stage.pidOf('crew', 'rests')];
  const daemon = stage.daemonPid();
  process.kill(daemon, 'SIGKILL');
  await until('the daemon is gone', () => !isAlive(daemon));
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  await until('both are gone', () => !pids.some(isAlive));
  expect(isAlive(program.pid as number)).toBe(false);
});

/** Runs scenes in parallel. The failure names the scenes that failed. */
async function play(stage: Stage, scenes: Readonly<Record<string, Scene>>): Promise<void> {
  await stage.ask('status');
  const ends = await Promise.allSettled(
    Object.entries(scenes).map(([name, scene]) => scene(stage.aside(), name.toLowerCase())),
  );
  const failed = ends.flatMap((end, i) => (end.status === 'rejected' ? [[Object.keys(scenes)[i], end.reason]] : []));
  expect(failed).toEqual([]);
}

/** Starts a team on the daemon that runs. Many commands at a time would each need a process. */
async function detach(stage: Stage, team: string, content: object): Promise<void> {
  await stage
    .client()
    .call('team.up', { yes: true, source: JSON.stringify({ team, ...content }), folder: stage.folder });
}

async function completed(stage: Stage, team: string, ids: readonly string[]): Promise<void> {
  await until(`the tasks of ${team} are completed`, async () => {
    const tasks = await Promise.all(ids.map((id) => stage.task(team, id)));
    return tasks.every(({ status }) => status === 'completed');
  });
}
