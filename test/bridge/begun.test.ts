import { rmdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isThere } from '../../src/bridge/json-file.ts';
import { HANG_MS, until } from '../until.ts';
import { holdLock, writeInPlace } from './foreign.ts';
import { file, NATIVE, read, setStage, TEAM } from './stage.ts';

/* Work that natives have begun stays theirs when a team joins and while it is joined. */

test('a holder keeps its task although we cannot look at what it waited for, because that file is locked', async () => {
  const { tasks, paths, settled } = await setStage({}, { files: { longest: HANG_MS, stale: 2 * HANG_MS } });
  await tasks.createTask(TEAM, 'codex-1', { title: 'After the first', dependencies: ['1'] });
  writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
  await settled();
  // Our side has something to write, and waits for the lock.
  const lock = holdLock(paths.task('1'));
  await tasks.updateTask(TEAM, '1', { title: 'A better title' }, 'codex-1');
  await tasks.createTask(TEAM, 'codex-1', { title: 'Is mirrored later than that' });
  await until('the mirror has gone on', () => isThere(paths.task('4')));
  writeInPlace(paths.task('1'), { ...read(paths.task('1')), status: 'completed' });
  writeInPlace(paths.task('3'), { ...read(paths.task('3')), owner: 'alice', status: 'in_progress' });
  // Looked at after that.
  writeFileSync(paths.task('5'), JSON.stringify(file('5')));
  await until('the mirror has seen it', async () => (await tasks.getTask(TEAM, '5')) !== undefined);
  writeInPlace(paths.task('5'), { ...read(paths.task('5')), owner: 'alice', status: 'in_progress' });
  await until('and that it was begun', async () => (await tasks.getTask(TEAM, '5'))?.assigneeId === 'alice');
  expect(read(paths.task('3'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  rmdirSync(lock);
  await until('both sides agree', async () => (await tasks.getTask(TEAM, '3'))?.status === 'in_progress');
  expect(await tasks.listTasks(TEAM)).toMatchObject([
    { id: '1', status: 'completed', assigneeId: 'alice', title: 'A better title' },
    { id: '2', status: 'pending' },
    { id: '3', status: 'in_progress', assigneeId: 'alice', dependencies: ['1'] },
    { id: '4', status: 'pending' },
    { id: '5', status: 'in_progress' },
  ]);
  await settled();
  expect(read(paths.task('3'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  expect(isThere(paths.inbox('alice'))).toBe(false);
});

test('a task that was begun while our team was away stays with its holder, whatever it waits for', async () => {
  const { bridge, tasks, paths, settled } = await setStage();
  await tasks.createTask(TEAM, 'codex-1', { title: 'After the first', dependencies: ['1'] });
  await settled();
  await bridge.leave(TEAM);
  writeInPlace(paths.task('3'), { ...read(paths.task('3')), owner: 'alice', status: 'in_progress' });
  await bridge.join(NATIVE);
  await settled();
  expect(await tasks.getTask(TEAM, '3')).toMatchObject({ status: 'in_progress', assigneeId: 'alice', blockedBy: [] });
  expect(read(paths.task('3'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  expect(isThere(paths.inbox('alice'))).toBe(false);
  // While both are joined, the rules of both count.
  await tasks.createTask(TEAM, 'codex-1', { title: 'Also after the first', dependencies: ['1'] });
  await settled();
  writeInPlace(paths.task('4'), { ...read(paths.task('4')), owner: 'alice', status: 'in_progress' });
  await until('it is put back', async () => {
    await settled();
    return read(paths.task('4'))['status'] === 'pending';
  });
});
