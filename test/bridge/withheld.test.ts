import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nativePaths } from '../../src/bridge/layout.ts';
import { JOINED_NAMES } from '../../src/bridge/mirror/names.ts';
import { MIRROR_TIMES } from '../../src/bridge/mirror/shared.ts';
import { withholdTasks } from '../../src/bridge/mirror/tasks/claims.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addMember, file, TEAM } from './stage.ts';

/** A task whose claim could not be written, though its file can be read: the disk is full. */
async function setUp(retry: number) {
  const paths = nativePaths(temporaryFolder(), TEAM);
  mkdirSync(paths.tasks, { recursive: true });
  writeFileSync(paths.task('1'), JSON.stringify(file('1')));
  const ledger = new Ledger(memoryJournal());
  const tasks = new SharedTaskList(ledger);
  const team = parse(CreateTeamInput, { name: TEAM });
  await ledger.execute(TEAM, { type: 'team.create', by: '@user', ...team }, () => undefined);
  await addMember(ledger, 'w1');
  await tasks.createTask(TEAM, '@user', { title: 'One', metadata: { native: { id: '1' } } });
  const withheld = withholdTasks({
    paths,
    naming: JOINED_NAMES,
    times: { ...MIRROR_TIMES, retry },
    view: (pick) => ledger.view(TEAM, pick),
    execute: (command) => ledger.execute(TEAM, command, () => undefined),
    report: () => {},
    again: () => {},
  });
  const fail = async (): Promise<void> =>
    withheld.withhold(await tasks.claimTask(TEAM, '1', 'w1'), new Error('ENOSPC: no space left on device'));
  const status = async (): Promise<string | undefined> => (await tasks.getTask(TEAM, '1'))?.status;
  return { withheld, fail, status };
}

test('a task whose claim could not be written is not given out again at once', async () => {
  const { withheld, fail, status } = await setUp(3_600_000);
  await fail();
  await withheld.look();
  expect(await status()).toBe('blocked');
});

test('it is given out again after a pause', async () => {
  const { withheld, fail, status } = await setUp(1);
  await fail();
  await expect
    .poll(async () => {
      await withheld.look();
      return status();
    })
    .toBe('pending');
});
