import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { JoinInput } from '../../../src/core/member.ts';
import type { HookRun } from '../../../src/runtime/hooks/run-hooks.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { CONTEXT, setStage } from './stage.ts';

describe('many hooks', () => {
  test('F42: of 50 at once, four run at a time, and all give a verdict', async () => {
    const stage = await setStage();
    const command = 'mkdir run-$$; ls -d run-* | wc -l >> counts; rmdir run-$$';
    await stage.register({ command });
    const results = await Promise.all(Array.from({ length: 50 }, () => stage.hooks.executeTaskCompletedHook(CONTEXT)));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map(() => 0));
    const counts = stage.read('counts').trim().split('\n').map(Number);
    expect(counts).toHaveLength(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    expect(readdirSync(stage.processes)).toEqual([]);
  });

  test('have a process record while they run', async () => {
    const stage = await setStage();
    await stage.judge({ command: `ls ${stage.processes} > listed` });
    expect(stage.read('listed')).toMatch(/^hook-[0-9a-f-]+\.json\n$/);
    expect(readdirSync(stage.processes)).toEqual([]);
  });
});

describe('the end of a daemon', () => {
  test('ends the programs of its hooks: nothing was judged, and nothing is left', async () => {
    const runs: HookRun[] = [];
    const stage = await setStage({}, { onRun: (run) => runs.push(run) });
    await stage.register({ command: 'touch began; sleep 600', onFailure: 'block' });
    const verdict = expect(stage.hooks.executeTaskCompletedHook(CONTEXT)).rejects.toMatchObject({ code: 'storage' });
    await until('it runs', () => existsSync(join(stage.folder, 'began')));
    await stage.hooks.close();
    expect(stage.left()).toEqual([]);
    await verdict;
    expect(runs).toEqual([]);
  });
});

describe('the folder of a hook', () => {
  test('is the folder of the work that it judges, if the hook names none', async () => {
    const stage = await setStage();
    const work = temporaryFolder();
    const member = { name: 'elsewhere', cwd: work, agent: { kind: 'exec', command: ['true'] } } as const;
    await stage.ledger.execute('demo', { type: 'member.join', by: USER, ...JoinInput.parse(member) }, () => undefined);
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'pwd > judged' });
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'pwd > named', cwd: stage.folder });
    await stage.tasks.createTask('demo', USER, { title: 'Judged' });
    await stage.tasks.claimTask('demo', '1', 'elsewhere');
    // A person completes it, but the work is the holder's.
    await stage.tasks.completeTask('demo', '1', USER);
    expect(readFileSync(join(work, 'judged'), 'utf8')).toBe(`${realpathSync(work)}\n`);
    expect(stage.read('named')).toBe(`${realpathSync(stage.folder)}\n`);
  });

  test('is that of the team, if the member has no other', async () => {
    const stage = await setStage();
    mkdirSync(join(stage.folders, 'demo'));
    const member = { name: 'there', agent: { kind: 'exec', command: ['true'] } } as const;
    await stage.ledger.execute('demo', { type: 'member.join', by: USER, ...JoinInput.parse(member) }, () => undefined);
    await stage.hooks.registerHook('demo', { type: 'TeammateIdle', command: 'cat > payload' });
    await stage.mailbox.notifyIdle('demo', 'there');
    const folder = join(stage.folders, 'demo');
    expect(JSON.parse(readFileSync(join(folder, 'payload'), 'utf8'))).toMatchObject({ cwd: folder });
  });

  test("is the team's for a new task, which has no holder yet, also if it is meant for one", async () => {
    const stage = await setStage();
    const member = { name: 'elsewhere', cwd: temporaryFolder(), agent: { kind: 'exec', command: ['true'] } } as const;
    await stage.ledger.execute('demo', { type: 'member.join', by: USER, ...JoinInput.parse(member) }, () => undefined);
    await stage.hooks.registerHook('demo', { type: 'TaskCreated', command: 'pwd >> judged' });
    await stage.tasks.createTask('demo', USER, { title: 'New' });
    await stage.tasks.createTask('demo', USER, { title: 'Theirs', assigneeId: 'elsewhere' });
    expect(stage.read('judged')).toBe(`${stage.folder}\n`.repeat(2));
  });
});

describe('the hooks of a team', () => {
  test('are asked for what they are about, if they are enabled', async () => {
    const stage = await setStage();
    const judges = () => Promise.all([stage.hooks.judgesCompletions('demo'), stage.hooks.judgesNewTasks('demo')]);
    expect(await judges()).toEqual([false, false]);
    await stage.register({ enabled: false });
    expect(await judges()).toEqual([false, false]);
    await stage.register({});
    expect(await judges()).toEqual([true, false]);
    stage.hooks.registerFunction('demo', 'TaskCreated', () => undefined);
    expect(await judges()).toEqual([true, true]);
    await stage.hooks.removeHook('demo', 'TaskCompleted');
    expect(await judges()).toEqual([false, true]);
    await stage.hooks.registerHook('demo', { type: 'TeammateIdle', command: 'touch idle', cwd: stage.folder });
    await stage.hooks.executeTaskCompletedHook(CONTEXT);
    expect(existsSync(join(stage.folder, 'idle'))).toBe(false);
  });

  test('after one that rejects, the next do not run; if none rejects and one accepts, the work counts as accepted', async () => {
    const runs: HookRun[] = [];
    const stage = await setStage({}, { onRun: (run) => runs.push(run) });
    await stage.register({ command: 'exit 0' });
    await stage.register({ command: 'exit 1' });
    const judged = { ...CONTEXT, taskIds: ['1', '2'] };
    expect(await stage.hooks.executeTaskCompletedHook(judged)).toMatchObject({ exitCode: 1, accepted: true });
    const about = { teamId: 'demo', type: 'TaskCompleted', taskId: '1', taskIds: ['1', '2'] };
    expect(runs).toMatchObject([
      { ...about, result: { command: 'exit 0', exitCode: 0 } },
      { ...about, result: { command: 'exit 1', exitCode: 1 } },
    ]);
    for (const run of [() => undefined, () => Promise.reject(new Error('broken'))]) {
      stage.hooks.registerFunction('demo', 'TaskCreated', run);
    }
    const context = { teamId: 'demo', taskId: '3', taskTitle: 'New', createdBy: 'lead' };
    expect(await stage.hooks.executeTaskCreatedHook(context)).toMatchObject({ exitCode: 1, accepted: true });
    expect(runs.slice(2)).toMatchObject([
      { type: 'TaskCreated', taskId: '3', result: { exitCode: 0 } },
      { type: 'TaskCreated', taskId: '3', result: { exitCode: 1, stderr: 'broken' } },
    ]);
    await stage.register({ command: 'exit 2' });
    await stage.register({ command: 'touch asked' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 2, command: 'exit 2' });
    expect(existsSync(join(stage.folder, 'asked'))).toBe(false);
  });

  test.each([
    ['rejects once', { command: 'echo x >> runs; exit 2' }, 2, 1],
    ['is flaky and rejects twice', { command: 'echo x >> runs; exit 2', flaky: true }, 2, 2],
    ['is flaky and rejects once', { command: 'echo x >> runs; [ $(wc -l < runs) = 2 ] || exit 2', flaky: true }, 0, 2],
    ['is flaky and accepts', { command: 'echo x >> runs', flaky: true }, 0, 1],
    [
      'is flaky and cannot run',
      { command: 'echo x >> runs; /no/such/tool', flaky: true, onFailure: 'block' as const },
      2,
      1,
    ],
  ])('where one %s', async (_what, hook, exitCode, runs) => {
    const stage = await setStage();
    expect(await stage.judge(hook)).toMatchObject({ exitCode });
    expect(stage.read('runs').trim().split('\n')).toHaveLength(runs);
  });

  test('are named with the obstacle if they cannot run', async () => {
    const stage = await setStage();
    const hooks = ['true', './gone.sh'].map((command) => stage.config({ command }));
    const why = `./gone.sh does not exist: put it into ${stage.folder}`;
    expect(stage.hooks.broken(hooks)).toEqual([{ type: 'TaskCompleted', command: './gone.sh', why }]);
  });

  test('judge the first tasks of a new team before they are there, and say which they reject and why', async () => {
    const stage = await setStage();
    const task = (taskId: string) => ({ taskId, title: `Task ${taskId}`, description: `About ${taskId}` });
    const tasks = ['1', '2', '3'].map(task);
    const command = `
      cat > "payload-$TROUPE_TASK_ID"
      [ "$TROUPE_TASK_ID $TROUPE_CREATED_BY" != '2 lead' ] || { echo not this one >&2; exit 2; }
      [ "$TROUPE_TASK_ID" != 3 ] || exit 2`;
    const rejects = { type: 'TaskCreated', command, cwd: stage.folder } as const;
    const others = [
      { ...rejects, command: 'exit 2', enabled: false },
      { ...rejects, command: 'exit 2', type: 'TaskCompleted' as const },
    ];
    const judge = (hooks: Parameters<typeof stage.config>[0][], teamId = 'new') =>
      stage.hooks.judgeNewTasks(teamId, { hooks: hooks.map(stage.config), tasks, createdBy: 'lead' });
    expect(await judge(others)).toEqual([]);
    expect(await judge([...others, rejects])).toEqual([
      { ...task('2'), feedback: 'not this one' },
      { ...task('3'), feedback: 'no reason given' },
    ]);
    expect(JSON.parse(stage.read('payload-1'))).toEqual({
      hook_event_name: 'TaskCreated',
      task_id: '1',
      task_subject: 'Task 1',
      task_description: 'About 1',
      team_name: 'new',
      context: { teamId: 'new', taskId: '1', taskTitle: 'Task 1', createdBy: 'lead' },
    });
    stage.hooks.registerFunction('other', 'TaskCreated', () => ({ reject: 'no' }));
    expect(await judge([])).toEqual([]);
    expect(await judge([], 'other')).toEqual(tasks.map((one) => ({ ...one, feedback: 'no' })));
  });

  test('delete a task that they reject', async () => {
    const stage = await setStage();
    const command = `grep -q '"task_subject":"No' && { echo not this one >&2; exit 2; }; exit 0`;
    await stage.hooks.registerHook('demo', { type: 'TaskCreated', command, cwd: stage.folder });
    await expect(stage.tasks.createTask('demo', USER, { title: 'No way' })).rejects.toMatchObject({
      code: 'gate_rejected',
      message: 'not this one',
    });
    await stage.tasks.createTask('demo', USER, { title: 'Fine' });
    expect((await stage.tasks.listTasks('demo')).map(({ title }) => title)).toEqual(['Fine']);
  });

  test('keep a teammate at work with their feedback', async () => {
    const stage = await setStage();
    const hook = { type: 'TeammateIdle', cwd: stage.folder } as const;
    await stage.hooks.registerHook('demo', { ...hook, command: 'echo Check the tests >&2; exit 2' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(false);
    const [message] = await stage.mailbox.getInbox('demo', 'worker');
    expect(message).toMatchObject({ type: 'system', content: 'Check the tests' });
    await stage.hooks.removeHook('demo', 'TeammateIdle');
    await stage.hooks.registerHook('demo', { ...hook, command: 'exit 1' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(true);
  });
});
