import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readLog } from '../daemon/serve.ts';
import { until } from '../until.ts';
import { isAlive, processesOf, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

const LONG = 90_000;

describe('kill -9', () => {
  test(
    'F2: of a teammate in the middle of a task: the task goes back, the lead is told once, it comes back and finishes',
    async () => {
      const stage = setStage();
      await detach(stage, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
      const program = await until('the work has begun', () => stage.work()[0]);
      const before = await stage.task('crew', '1');
      process.kill(await stage.pidOf('crew', 'worker'), 'SIGKILL');
      const killedAt = performance.now();
      const client = stage.client();
      await until('the member has stopped', async () => {
        const { status, returning } = await client.call('member.show', { teamId: 'crew', memberId: 'worker' });
        return status === 'stopped' ? returning : undefined;
      });
      expect(performance.now() - killedAt).toBeLessThan(2_000);
      await until('the task has another epoch', async () => (await stage.task('crew', '1')).epoch > before.epoch);
      expect(performance.now() - killedAt).toBeLessThan(5_000);
      expect(isAlive(program.pid as number)).toBe(false);
      await until('the work has begun again', () => stage.work()[1]);
      stage.letGo();
      await completed(stage, ['1']);
      expect(stage.work().map(({ epoch }) => epoch)).toEqual([before.epoch, (await stage.task('crew', '1')).epoch]);
      const told = await client.call('message.inbox', { teamId: 'crew', memberId: 'lead' });
      expect(told.map(({ content }) => content)).toEqual([
        expect.stringMatching(/^worker crashed \(ended by SIGKILL.*Given back: #1\. It is started again\.$/),
      ]);
    },
    LONG,
  );

  test(
    'again and again: three restarts, then it stays stopped and a person is asked, whose yes starts it once more',
    async () => {
      const stage = setStage();
      await detach(stage, {
        members: [stage.member('worker', 'kills-teammate')],
        tasks: [{ title: 'Impossible' }],
      });
      const client = stage.client();
      const member = await until('it is given up', async () => {
        const found = await client.call('member.show', { teamId: 'crew', memberId: 'worker' });
        return found.status === 'stopped' && !found.returning && found;
      });
      expect(member.stopReason).toMatch(/^crashed: ended by SIGKILL/);
      const told = await client.call('message.inbox', { teamId: 'crew', memberId: 'lead' });
      expect(told).toHaveLength(4);
      expect(told.at(-1)?.content).toContain('It crashed too often and is not started again: a person has to look.');
      expect(await stage.task('crew', '1')).toMatchObject({ status: 'pending', epoch: 8 });
      expect(stage.records()).toEqual([]);
      const [request] = await client.call('request.list', { teamId: 'crew', status: 'pending' });
      expect(request).toMatchObject({ kind: 'restart', memberId: 'worker' });
      expect(request?.content).toMatch(/^worker crashed again and again, the last time so: ended by SIGKILL/);
      const answered = await stage.troupe('approve', request?.id ?? '');
      expect(answered.stdout, answered.stderr).toBe('worker is started again.\n');
      await until('it is tried once more, and asked about once more', async () => {
        const requests = await client.call('request.list', { teamId: 'crew', kind: 'restart' });
        return requests.map(({ status }) => status).join() === 'approved,pending';
      });
      expect(await stage.task('crew', '1')).toMatchObject({ status: 'pending', epoch: 10 });
    },
    LONG,
  );

  test(
    'F10: of the daemon: those at work are taken over, none is started twice, and the work goes on',
    async () => {
      const stage = setStage();
      await detach(stage, {
        members: [stage.member('ann', 'slow'), stage.member('bob', 'slow')],
        tasks: [{ title: 'One' }, { title: 'Two' }, { title: 'Three' }],
      });
      await until('both work', () => stage.work().length === 2);
      const pids = [await stage.pidOf('crew', 'ann'), await stage.pidOf('crew', 'bob')];
      const daemon = stage.daemonPid();
      process.kill(daemon, 'SIGKILL');
      await until('the daemon is gone', () => !isAlive(daemon));
      expect((await stage.ask<{ pid: number }>('status')).pid).not.toBe(daemon);
      expect([await stage.pidOf('crew', 'ann'), await stage.pidOf('crew', 'bob')]).toEqual(pids);
      stage.letGo();
      await completed(stage, ['1', '2', '3']);
      expect(stage.work().map(({ taskId }) => taskId)).toHaveLength(3);
      expect(pids.map(isAlive)).toEqual([true, true]);
      expect(readLog(stage.home).filter(({ event }) => event === 'teams.failed')).toEqual([]);
      expect((await stage.troupe('stop')).code).toBe(0);
      expect(processesOf(stage.home)).toEqual([]);
    },
    LONG,
  );

  test(
    'of the daemon and a teammate: the teammate is started again and the work is done',
    async () => {
      const stage = setStage();
      await detach(stage, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
      const program = await until('the work has begun', () => stage.work()[0]);
      const teammate = await stage.pidOf('crew', 'worker');
      process.kill(stage.daemonPid(), 'SIGKILL');
      process.kill(teammate, 'SIGKILL');
      await stage.ask('status');
      await until('the work has begun again', () => stage.work()[1]);
      expect(isAlive(program.pid as number)).toBe(false);
      stage.letGo();
      await completed(stage, ['1']);
    },
    LONG,
  );

  test(
    'of the daemon: a teammate that nobody takes over ends when it is told to, at work or at rest',
    async () => {
      const stage = setStage();
      await detach(stage, {
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
    },
    LONG,
  );

  test(
    'of the daemon while a teammate waits for its restart: it still comes back',
    async () => {
      const stage = setStage();
      await detach(stage, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
      await until('the work has begun', () => stage.work()[0]);
      process.kill(await stage.pidOf('crew', 'worker'), 'SIGKILL');
      const client = stage.client();
      await until(
        'it is to come back',
        async () => (await client.call('member.show', { teamId: 'crew', memberId: 'worker' })).returning,
      );
      process.kill(stage.daemonPid(), 'SIGKILL');
      stage.letGo();
      await stage.ask('status');
      await completed(stage, ['1']);
    },
    LONG,
  );

  test(
    'of the daemon while a hook runs: the hook does not outlive it for long',
    async () => {
      const stage = setStage();
      const mark = `${stage.folder}/hook-runs`;
      await detach(stage, {
        members: [stage.member('worker', 'quick')],
        tasks: [{ title: 'Judged' }],
        hooks: { TaskCompleted: { command: `test -e ${mark} || { touch ${mark}; sleep 1003; }` } },
      });
      await until('the hook runs', () => existsSync(mark));
      process.kill(stage.daemonPid(), 'SIGKILL');
      await stage.ask('status');
      await until(
        'the hook is gone',
        () => !processesOf(stage.home).some(({ command }) => command.includes('sleep 1003')),
      );
      await completed(stage, ['1']);
      expect(stage.work()).toHaveLength(1);
    },
    LONG,
  );
});

test(
  'F3: kill -9 of a lead: the others finish what they hold, and it comes back',
  async () => {
    const stage = setStage();
    const { name: _name, ...lead } = stage.member('boss', 'quick') as { name: string };
    await detach(stage, {
      lead: { name: 'boss', ...lead },
      members: [stage.member('worker', 'slow')],
      tasks: [{ title: 'Carry on', assign: 'worker' }],
    });
    const begun = await until('the work has begun', () => stage.work().find(({ memberId }) => memberId === 'worker'));
    const boss = await stage.pidOf('crew', 'boss');
    process.kill(boss, 'SIGKILL');
    await until('it is back', async () => (await stage.pidOf('crew', 'boss')) !== boss);
    expect(isAlive(begun.pid as number)).toBe(true);
    stage.letGo();
    await completed(stage, ['1']);
    expect(stage.work().filter(({ taskId }) => taskId === '1')).toHaveLength(1);
  },
  LONG,
);

test(
  'SIGTERM from outside is a crash too: the teammate comes back, and its task is done',
  async () => {
    const stage = setStage();
    await detach(stage, { members: [stage.member('worker', 'slow')], tasks: [{ title: 'Carry on' }] });
    await until('the work has begun', () => stage.work()[0]);
    process.kill(await stage.pidOf('crew', 'worker'), 'SIGTERM');
    await until('the work has begun again', () => stage.work()[1]);
    stage.letGo();
    await completed(stage, ['1']);
    const told = await stage.client().call('message.inbox', { teamId: 'crew', memberId: 'lead' });
    expect(told.map(({ content }) => content)).toEqual([expect.stringMatching(/^worker crashed \(exit code 143\)/)]);
  },
  LONG,
);

describe('mail over a crash', () => {
  test(
    'is shown once, or once more and marked',
    async () => {
      const stage = setStage();
      await detach(stage, {
        members: [stage.member('worker', 'slow')],
        tasks: [{ title: 'First', assign: 'worker' }],
      });
      await until('the work has begun', () => stage.work()[0]);
      for (const text of ['one', 'two']) await stage.ask('send', 'worker', text, '--team', 'crew');
      process.kill(await stage.pidOf('crew', 'worker'), 'SIGKILL');
      await until('it works again', () => stage.work()[1]);
      process.kill(await stage.pidOf('crew', 'worker'), 'SIGKILL');
      await until('it works again', () => stage.work()[2]);
      stage.letGo();
      await completed(stage, ['1']);
      const seen = stage.work().flatMap(({ messages }) => messages);
      for (const text of ['one', 'two']) {
        const copies = seen.filter(({ content }) => content === text);
        expect(copies.filter(({ redeliveries }) => redeliveries === 0)).toHaveLength(1);
      }
    },
    LONG,
  );
});

/** Brings a team up and leaves it to itself. */
async function detach(stage: Stage, team: object): Promise<void> {
  const { code, stderr } = await stage.troupe('up', stage.teamFile({ team: 'crew', ...team }), '--yes', '--detach');
  expect(code, stderr).toBe(0);
}

async function completed(stage: Stage, ids: readonly string[]): Promise<void> {
  await until('the tasks are completed', async () => {
    const tasks = await Promise.all(ids.map((id) => stage.task('crew', id)));
    return tasks.every(({ status }) => status === 'completed');
  });
}
