import { expect, test } from 'vitest';
import { isThere } from '../../src/bridge/json-file.ts';
import { JOINED_NAMES } from '../../src/bridge/mirror/names.ts';
import type { Shared } from '../../src/bridge/mirror/shared.ts';
import { openBook } from '../../src/bridge/mirror/tasks/book.ts';
import { takeUpTasks } from '../../src/bridge/mirror/tasks/new-tasks.ts';
import { taskIds } from '../../src/bridge/task-file.ts';
import { until } from '../until.ts';
import { writeInPlace } from './foreign.ts';
import { addMember, file, fillable, NATIVE, read, readList, setStage, TEAM } from './stage.ts';

/* Clients call a daemon before it has resumed its joined teams, and natives work while it is away. */

test('a native team that is joined while the daemon starts gets one file for each task', async () => {
  const { bridge, ledger, open, paths } = await setStage();
  await bridge.close();
  await ledger.close();
  const later = open();
  await Promise.all([later.bridge.join(NATIVE), later.bridge.start(), later.bridge.join(NATIVE)]);
  await later.tasks.createTask(TEAM, 'codex-1', { title: 'Once' });
  await later.bridge.settled(TEAM);
  await later.bridge.settled(TEAM);
  expect(taskIds(paths)).toEqual(['1', '2', '3']);
  expect(await later.tasks.listTasks(TEAM)).toHaveLength(3);
});

test.for([true, false])(
  'a task that a native began while the daemon was away is not given to a member (claimed before the start: %s)',
  async (isEarly) => {
    const { bridge, ledger, open, paths } = await setStage();
    await bridge.close();
    await ledger.close();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
    const later = open('home', undefined, isEarly);
    const early = isEarly ? later.tasks.claimNextTask(TEAM, 'codex-1') : undefined;
    await later.bridge.start();
    const claimed = await (early ?? later.tasks.claimNextTask(TEAM, 'codex-1'));
    expect(claimed?.id).toBe('2');
    expect(await later.tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'alice' });
    expect(read(paths.task('1'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  },
);

test('the native lead hears that a task was not given to a member of ours, which reads no native inbox', async () => {
  const { ledger, tasks, paths, settled } = await setStage();
  await addMember(ledger, 'codex-2');
  await tasks.claimTask(TEAM, '1', 'codex-1');
  await settled();
  writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'codex-2' });
  await settled();
  expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
  expect(readList(paths.inbox('team-lead')).map(({ text }) => text)).toContainEqual(
    expect.stringContaining('put back'),
  );
  expect(isThere(paths.inbox('codex-2'))).toBe(false);
});

test('a native task that is being adopted is not adopted again', async () => {
  const { bridge, ledger, tasks, paths } = await setStage();
  await bridge.leave(TEAM);
  const shared: Partial<Shared> = {
    paths,
    stream: 'stream',
    naming: JOINED_NAMES,
    view: (pick) => ledger.view(TEAM, pick),
    execute: (command) => ledger.execute(TEAM, command, () => undefined),
  };
  const { adopt } = takeUpTasks(shared as Shared, openBook(JOINED_NAMES));
  const native = [file('7') as never];
  await Promise.all([adopt(native), adopt(native)]);
  expect(await tasks.listTasks(TEAM)).toHaveLength(3);
});

test('a journal that cannot write takes no work from a native', async () => {
  const { bridge, ledger, journal, open, paths } = await setStage();
  await bridge.close();
  await ledger.close();
  let isFull = false;
  let refused = 0;
  const full = fillable(journal, () => {
    if (isFull) refused++;
    return isFull;
  });
  const later = open('home', full);
  await later.bridge.start();
  await later.bridge.settled(TEAM);
  isFull = true;
  writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
  await later.bridge.settled(TEAM);
  expect(refused).toBeGreaterThan(0);
  expect(read(paths.task('1'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  isFull = false;
  await until('the claim is stored', async () => (await later.tasks.getTask(TEAM, '1'))?.assigneeId === 'alice');
  expect(isThere(paths.inbox('alice'))).toBe(false);
});

test('a claim that the last daemon could not write yields to natives that were first', async () => {
  const { bridge, ledger, tasks, open, paths, settled } = await setStage();
  await tasks.createTask(TEAM, 'codex-1', { title: 'After the first', dependencies: ['1'] });
  await settled();
  await bridge.close();
  // The claims are in the journal, and the daemon dies before their files say so.
  for (const taskId of ['1', '2']) {
    await ledger.execute(TEAM, { type: 'task.claim', by: 'codex-1', taskId }, () => undefined);
  }
  await ledger.close();
  writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'completed' });
  writeInPlace(paths.task('3'), { ...read(paths.task('3')), owner: 'alice', status: 'in_progress' });
  const later = open();
  await later.bridge.start();
  await later.bridge.settled(TEAM);
  expect(await later.tasks.listTasks(TEAM)).toMatchObject([
    { id: '1', status: 'completed', assigneeId: 'alice' },
    { id: '2', status: 'in_progress', assigneeId: 'codex-1' },
    { id: '3', status: 'in_progress', assigneeId: 'alice' },
  ]);
  expect(read(paths.task('2'))).toMatchObject({ status: 'in_progress', owner: 'codex-1' });
  expect(read(paths.task('3'))).toMatchObject({ status: 'in_progress', owner: 'alice' });
  expect(isThere(paths.inbox('alice'))).toBe(false);
});

test('a task that one of ours gives back goes to the next of ours at once', async () => {
  const { ledger, tasks, paths, settled } = await setStage();
  await addMember(ledger, 'codex-2');
  await tasks.claimTask(TEAM, '1', 'codex-1');
  await settled();
  await tasks.updateTask(TEAM, '1', { status: 'pending' }, 'codex-1');
  expect(await tasks.claimTask(TEAM, '1', 'codex-2')).toMatchObject({ assigneeId: 'codex-2' });
  await settled();
  expect(read(paths.task('1'))).toMatchObject({ status: 'in_progress', owner: 'codex-2' });
});
