import { existsSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DELETED_TASKS } from '../../src/core/limits.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import type { SharedTaskList } from '../../src/ledger/task-list.ts';
import { HANG_MS } from '../until.ts';
import { writeInPlace } from './foreign.ts';
import { file, read, setStage, TEAM } from './stage.ts';

const listed = async (tasks: SharedTaskList): Promise<string[]> =>
  (await tasks.listTasks(TEAM)).map(({ id, status, assigneeId = '' }) => `${id} ${status} ${assigneeId}`.trim());

describe('missing task files', () => {
  test('have no effect if their directory is missing too, and are as before when it is back', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    renameSync(paths.tasks, `${paths.tasks}-away`);
    for (let i = 0; i < 4; i++) await settled();
    await tasks.createTask(TEAM, 'codex-1', { title: 'Meanwhile' });
    await settled();
    expect(bridge.joined()[0]?.notices.join()).toContain('compared again when it is back');
    // No other directory is made in its place; the old one would then be moved into it.
    expect(existsSync(paths.tasks)).toBe(false);
    renameSync(`${paths.tasks}-away`, paths.tasks);
    await settled();
    expect(await listed(tasks)).toEqual(['1 in_progress codex-1', '2 pending', '3 pending']);
    for (const id of ['1', '2', '3']) expect(read(paths.task(id))).toMatchObject({ id });
    await expect.poll(() => bridge.joined()[0]?.notices.join()).not.toContain('when it is back');
  });

  test('have no effect for a moment; after that they count as deleted', async () => {
    const { tasks, paths, times, settled } = await setStage({}, { grace: HANG_MS });
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    renameSync(paths.task('1'), join(paths.tasks, 'x'));
    await settled();
    renameSync(join(paths.tasks, 'x'), paths.task('1'));
    await settled();
    // From now on a missing file counts as deleted at once, and this one exists.
    times.grace = 0;
    await settled();
    expect(await listed(tasks)).toEqual(['1 in_progress codex-1', '2 pending']);
    times.grace = HANG_MS;
    unlinkSync(paths.task('2'));
    await settled();
    expect(await listed(tasks)).toEqual(['1 in_progress codex-1', '2 pending']);
    times.grace = 50;
    await expect.poll(() => settled().then(() => listed(tasks))).toEqual(['1 in_progress codex-1']);
  });

  test('that return after they counted as deleted bring their tasks back, also after a restart', async () => {
    const { bridge, tasks, paths, journal, open, settled } = await setStage();
    for (const id of ['1', '2']) renameSync(paths.task(id), join(paths.tasks, `x${id}`));
    await settled();
    expect(await listed(tasks)).toEqual([]);
    renameSync(join(paths.tasks, 'x1'), paths.task('1'));
    await settled();
    expect(await listed(tasks)).toEqual(['1 pending']);
    await tasks.claimTask(TEAM, '1', 'codex-1');
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
    await bridge.close();
    renameSync(join(paths.tasks, 'x2'), paths.task('2'));
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    const later = open('home', journal);
    await later.bridge.start();
    await later.bridge.settled(TEAM);
    expect(await listed(later.tasks)).toEqual(['1 in_progress codex-1', '2 in_progress alice']);
    expect(read(paths.task('2'))).toMatchObject({ owner: 'alice' });
  });

  test('that return after their tasks were forgotten, because many others were deleted, are new tasks', async () => {
    const { bridge, tasks, ledger, paths, settled } = await setStage();
    renameSync(paths.task('2'), join(paths.tasks, 'x2'));
    await settled();
    expect(await listed(tasks)).toEqual(['1 pending']);
    const made = { by: '@user', ...parse(CreateTaskInput, { title: 'short-lived' }) };
    for (let id = 3; id < 3 + DELETED_TASKS; id++) {
      const deleted = { type: 'task.delete', by: '@user', taskId: String(id) } as const;
      await ledger.execute(TEAM, [{ type: 'task.create', ...made }, deleted], () => undefined);
    }
    for (let i = 0; i < 2; i++) await settled();
    renameSync(join(paths.tasks, 'x2'), paths.task('2'));
    await settled();
    expect(await listed(tasks)).toEqual(['1 pending', `${3 + DELETED_TASKS} pending`]);
    expect(bridge.joined()[0]?.notices).toEqual([]);
  });

  test('of many tasks at once are reported and the tasks kept, until the program has visibly deleted them', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    for (const id of ['3', '4', '5', '6']) writeFileSync(paths.task(id), JSON.stringify(file(id)));
    await settled();
    for (const id of ['2', '3', '4', '5', '6']) unlinkSync(paths.task(id));
    for (let i = 0; i < 3; i++) await settled();
    expect(await listed(tasks)).toHaveLength(6);
    expect(bridge.joined()[0]?.notices.join()).toContain('5 tasks have no file');
    writeFileSync(paths.task('2'), JSON.stringify(file('2')));
    for (let i = 0; i < 3; i++) await settled();
    expect(await listed(tasks)).toHaveLength(6);
    writeFileSync(paths.highWaterMark, '6');
    await settled();
    expect(await listed(tasks)).toEqual(['1 pending', '2 pending']);
  });

  test('of tasks that we deleted are in the trash', async () => {
    const { tasks, root, paths, settled } = await setStage();
    await tasks.updateTask(TEAM, '2', { status: 'deleted' });
    await settled();
    expect(existsSync(paths.task('2'))).toBe(false);
    const trash = join(root, '../trash/tasks');
    const [kept, ...more] = readdirSync(trash);
    expect(more).toEqual([]);
    expect(read(join(trash, kept as string))).toMatchObject({ id: '2', subject: 'Task 2' });
  });
});
