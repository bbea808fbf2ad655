import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identify } from '../../src/agents/process.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { pauseProcess } from '../daemon/processes.ts';
import { readLog } from '../daemon/serve.ts';
import { until } from '../until.ts';
import { isAlive, processesOf, setStage, shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';
import { makeProject, up } from './work-project.ts';

describe('troupe down', () => {
  const newStage = shareDaemon();

  test('lets each member finish its task, and returns when all processes and their records are gone', async () => {
    const stage = newStage();
    await bringUp(stage, ['slow', 'quick'], [{ title: 'Finish me', assign: 'm0' }]);
    await until('the work has begun', () => stage.work()[0]);
    const pids = stage.records().map(({ identity }) => identity?.pid as number);
    const down = stage.start(['down', stage.team, '--json']);
    await until('it is asked', async () => {
      const requests = await stage.client().call('request.list', { teamId: stage.team, kind: 'shutdown' });
      return requests.length === 2;
    });
    stage.letGo();
    expect(await down.ended, down.output.stderr).toBe(0);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(readdirSync(stage.home.processes)).toEqual([]);
    expect(JSON.parse(down.output.stdout)).toMatchObject({ status: 'cleaned-up' });
    expect(await stage.task(stage.team, '1')).toMatchObject({ status: 'completed', result: 'did Finish me' });
    expect(teammates(stage)).toEqual([]);
  });

  test('with --now kills working members, even those that ignore SIGTERM, and children that escaped', async () => {
    const stage = newStage();
    await bringUp(
      stage,
      ['ignores-term', 'slow'],
      [
        { title: 'Never', assign: 'm0' },
        { title: 'Long', assign: 'm1' },
      ],
    );
    await until('both work', () => programs(stage).length === 2);
    const { code, stderr } = await stage.troupe('down', stage.team, '--now');
    expect(code, stderr).toBe(0);
    expect(teammates(stage)).toEqual([]);
    expect(programs(stage)).toEqual([]);
    expect(readdirSync(stage.home.processes)).toEqual([]);
  });

  test('kills members that do not agree in time', async () => {
    const stage = newStage();
    await bringUp(stage, ['slow'], [{ title: 'Too long' }]);
    await until('the work has begun', () => stage.work()[0]);
    const { code, stderr } = await stage.troupe('down', stage.team, '--within', '500ms');
    expect(code, stderr).toBe(0);
    expect(teammates(stage)).toEqual([]);
    expect(programs(stage)).toEqual([]);
  });
});

describe('troupe stop', () => {
  test('with --keep lets members work on for the next daemon; without it, ends them and releases their tasks', async () => {
    const stage = setStage();
    const [kept, ended] = [stage.aside(), stage.aside()];
    await bringUp(kept, ['slow'], [{ title: 'Long' }]);
    await bringUp(ended, ['slow', 'quick'], [{ title: 'Longer', assign: 'm0' }]);
    for (const one of [kept, ended]) await until('the work has begun', () => one.work()[0]);
    const pid = await stage.pidOf(kept.team, 'm0');
    expect((await stage.troupe('stop', '--keep')).code).toBe(0);
    expect(isAlive(pid)).toBe(true);
    kept.letGo();
    await stage.ask('status');
    await until('the work is done', async () => (await stage.task(kept.team, '1')).status === 'completed');
    expect(await stage.pidOf(kept.team, 'm0')).toBe(pid);
    expect(await stage.ask<{ pid: number }[]>('ps', '--team', kept.team)).toMatchObject([{ pid }]);

    const { code, stderr } = await stage.troupe('stop');
    expect(code, stderr).toBe(0);
    expect(processesOf(stage.home)).toEqual([]);
    expect(readdirSync(stage.home.processes)).toEqual([]);
    expect(readLog(stage.home).filter(({ level }) => level === 'error')).toEqual([]);
    const members = await stage.ask<{ id: string; status: string; stopReason?: string }[]>(
      'member',
      'list',
      '--team',
      ended.team,
    );
    expect(members.slice(1)).toMatchObject([
      { id: 'm0', status: 'stopped', stopReason: 'the daemon was stopped' },
      { id: 'm1', status: 'stopped', stopReason: 'the daemon was stopped' },
    ]);
    expect(await stage.task(ended.team, '1')).toMatchObject({ status: 'pending' });
  });

  test('ends gates, and members whose work waits to land; the next daemon judges that again', async () => {
    const stage = setStage();
    const go = join(stage.folder, 'go');
    const hooks = { TaskCompleted: { command: `until [ -e ${go} ]; do sleep 0.05; done` } };
    const repository = makeProject(stage, 'echo $NAME > $NAME.txt\n', { hooks });
    const file = join(repository, 'troupe.yaml');
    await stage.ask('up', file, '--yes', '--detach');
    const look = () => stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    await until('both works wait', async () => (await look()).queue?.entries.length === 2);
    // It needs no kill, although its verdict would take longer.
    expect(await stage.ask('member', 'stop', 'ann', '--team', stage.team)).toMatchObject({ how: 'terminated' });
    const { code, stderr } = await stage.troupe('stop');
    expect(code, stderr).toBe(0);
    expect(processesOf(stage.home)).toEqual([]);
    expect(readdirSync(stage.home.processes)).toEqual([]);
    writeFileSync(go, '');
    expect((await up(stage, repository)).code).toBe(0);
    expect((await look()).tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
  });

  test('with --all ends a paused daemon and programs that escaped or ignore SIGTERM; says if nothing ran', async () => {
    const stage = setStage();
    await bringUp(
      stage,
      ['ignores-term', 'slow'],
      [
        { title: 'A', assign: 'm0' },
        { title: 'B', assign: 'm1' },
      ],
    );
    await until('both work', () => programs(stage).length === 2);
    await pauseProcess(stage.daemonPid());
    const { ended } = await stage.ask<{ ended: string[] }>('stop', '--all');
    expect(ended.toSorted()).toEqual(['m0@crew', 'm1@crew']);
    expect(processesOf(stage.home)).toEqual([]);
    expect(readdirSync(stage.home.processes)).toEqual([]);
    const { code, stdout } = await stage.troupe('stop', '--all');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Ended no teammate; no daemon ran.\n' });
  });

  test('with --all lasts: looking starts a daemon but no member, and troupe up continues the work', async () => {
    const stage = setStage();
    await bringUp(stage, ['slow', 'slow'], [{ title: 'Held', assign: 'm0' }]);
    await until('the work has begun', () => stage.work()[0]);
    const { epoch } = await stage.task(stage.team, '1');
    const { stdout } = await stage.troupe('stop', '--all');
    expect(stdout).toContain('They stay stopped until you bring them up');
    expect(await stage.ask('ps')).toEqual([]);
    // A daemon that is killed is not stopped by a person, and still brings back nobody that a person stopped.
    await killDaemon(stage);
    const members = await stage.ask<{ id: string; status: string }[]>('member', 'list', '--team', stage.team);
    const stopped = { status: 'stopped', stopReason: 'stopped by troupe stop --all' };
    expect(members.slice(1)).toMatchObject([stopped, stopped]);
    expect(await stage.task(stage.team, '1')).toMatchObject({ status: 'pending' });
    expect(teammates(stage)).toEqual([]);
    stage.letGo();
    const { code, stderr } = await stage.troupe('up', join(stage.folder, 'troupe.yaml'));
    expect(code, stderr).toBe(0);
    expect(stage.work().map(({ memberId }) => memberId)).toEqual(['m0', 'm0']);
    expect((await stage.task(stage.team, '1')).epoch).toBeGreaterThan(epoch);
  });

  test('finds members whose records were lost: the next daemon starts none twice, and --all misses none', async () => {
    const stage = setStage();
    await bringUp(stage, ['slow', 'slow'], [{ title: 'Long', assign: 'm0' }]);
    await until('the work has begun', () => stage.work()[0]);
    const loseRecords = (): void => rmSync(stage.home.processes, { recursive: true });
    const pids = teammates(stage).map(({ pid }) => pid);
    await killDaemon(stage);
    loseRecords();
    await stage.ask('status');
    expect(teammates(stage).map(({ pid }) => pid)).toEqual(pids);
    stage.letGo();
    await until('the work is done', async () => (await stage.task(stage.team, '1')).status === 'completed');
    expect(stage.work()).toHaveLength(1);
    loseRecords();
    const { ended } = await stage.ask<{ ended: string[] }>('stop', '--all');
    expect(ended.toSorted()).toEqual(['m0@crew', 'm1@crew']);
    expect(processesOf(stage.home)).toEqual([]);
  });

  test('F8: with --all never signals a foreign process with a reused pid; attached views do not restart the daemon', async () => {
    const stage = setStage();
    const stranger = spawn('sleep', ['1006'], { stdio: 'ignore', detached: true });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    const pid = stranger.pid as number;
    const { bootId } = identify(pid);
    const forge = (): void =>
      openProcessRecords(stage.home.processes).write({
        id: 'member-forged',
        teamId: 'gone',
        memberId: 'ghost',
        startedAt: new Date().toISOString(),
        identity: { pid, startTime: '1', bootId },
      });
    forge();
    await stage.ask('status');
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(stage.home.processes)).toEqual([]);
    await bringUp(stage, ['slow'], [{ title: 'Long' }]);
    const watcher = stage.start(['attach', 'm0']);
    await until('it shows the work', () => watcher.output.stdout.includes('working'));
    forge();
    await stage.ask('stop', '--all');
    expect(isAlive(pid)).toBe(true);
    // The view looks for a daemon repeatedly. If it started one, it would do so between its first and its third failed
    // look.
    const looks = await countLooks(stage);
    const isStarting = (): boolean => watcher.output.stderr.includes('starting the daemon');
    await until('it has looked for a daemon', () => isStarting() || looks() >= 5);
    expect(isStarting()).toBe(false);
    expect(processesOf(stage.home).map(({ pid: left }) => left)).toEqual([watcher.pid]);
    watcher.child.kill('SIGKILL');
    await watcher.ended;
  });
});

/** Listens on the socket of a daemon that is gone, counts the connections, and closes each without an answer. */
async function countLooks({ home }: Stage): Promise<() => number> {
  let looks = 0;
  const server = createServer((socket) => {
    looks++;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  rmSync(home.socket, { force: true });
  await once(server.listen(home.socket), 'listening');
  return () => looks;
}

/** Starts a team of m0, m1 … that run these programs. */
async function bringUp(stage: Stage, fixtures: readonly string[], tasks: readonly object[]): Promise<void> {
  const members = fixtures.map((fixture, i) => stage.member(`m${i}`, fixture));
  const path = stage.teamFile({ team: stage.team, members, tasks });
  const { code, stderr } = await stage.troupe('up', '--yes', path, '--detach');
  expect(code, stderr).toBe(0);
  await until('all are there', async () => {
    const { members: all } = await stage.client().call('team.show', { teamId: stage.team });
    return all.every(({ status }) => status === 'active' || status === 'idle');
  });
}

/** Kills the daemon, and waits until it is gone: a command may still reach one that is dying. */
async function killDaemon(stage: Stage): Promise<void> {
  const pid = stage.daemonPid();
  process.kill(pid, 'SIGKILL');
  await until('the daemon is gone', () => !isAlive(pid));
}

function teammates(stage: Stage) {
  return processesOf(stage.home).filter(({ command }) => command.includes('--teammate'));
}

function programs(stage: Stage) {
  return processesOf(stage.home).filter(({ command }) => command.includes('fixtures/agents'));
}
