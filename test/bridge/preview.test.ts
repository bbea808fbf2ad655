import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { writeInPlace } from './foreign.ts';
import { file, NATIVE, read, setStage, TEAM } from './stage.ts';

/** All files below a folder with their texts. */
function filesIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

test('a preview of a first join names what would be mirrored and written, and takes no task from anybody', async () => {
  const { bridge, paths, root, open } = await setStage();
  await bridge.leave(TEAM);
  writeFileSync(paths.task('1'), JSON.stringify(file('1', { status: 'completed', owner: 'alice' })));
  const begun = file('2', { status: 'in_progress', owner: 'alice', blockedBy: ['1'] });
  writeFileSync(paths.task('2'), JSON.stringify(begun));
  const before = filesIn(root);
  const { bridge: later, ledger } = open('another home', memoryJournal());
  const preview = await later.preview(NATIVE, { as: 'both' });
  expect(preview).toMatchObject({
    native: NATIVE,
    teamId: 'both',
    isNew: true,
    members: ['team-lead', 'alice'],
    tasks: [
      { id: '1', status: 'completed', assigneeId: 'alice', before: undefined },
      { id: '2', status: 'in_progress', assigneeId: 'alice', before: undefined },
    ],
  });
  const changes = new Map(preview.files.map(({ path, changes }) => [path, changes]));
  expect(changes.get(paths.config)).toEqual(['the mark of Troupe says which daemon synchronizes it']);
  expect([...changes.values()].flat().filter((one) => /^(status|owner)/.test(one))).toEqual([]);
  expect(filesIn(root)).toEqual(before);
  expect(await ledger.teams()).toEqual([]);
  await expect(later.preview('no-such-team')).rejects.toThrow(/There is no native team "no-such-team"/);
});

test('a preview of another join says which tasks and files would differ, and the join does just that', async () => {
  const { bridge, tasks, paths, root, ledger, settled } = await setStage();
  await expect(bridge.preview(NATIVE)).rejects.toThrow(/has joined the native team/);
  await bridge.leave(TEAM);
  await tasks.createTask(TEAM, 'codex-1', { title: 'Made while away' });
  await tasks.claimTask(TEAM, '1', 'codex-1');
  writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
  const before = filesIn(root);
  const seq = await ledger.view(TEAM, (_state, now) => now);
  const preview = await bridge.preview(NATIVE);
  expect(preview).toMatchObject({
    isNew: false,
    tasks: [{ id: '2', status: 'in_progress', assigneeId: 'alice', before: { status: 'pending' } }],
  });
  expect(preview.files.map(({ path }) => path).toSorted()).toEqual(
    [paths.config, paths.task('1'), paths.task('2'), paths.task('3')].toSorted(),
  );
  expect(preview.files.find(({ path }) => path === paths.config)?.changes).toContain('member codex-1 is added');
  expect(preview.files.find(({ path }) => path === paths.task('1'))?.changes).toEqual(
    expect.arrayContaining(['status: "pending" becomes "in_progress"', 'owner: nothing becomes "codex-1"']),
  );
  expect(preview.files.find(({ path }) => path === paths.task('2'))?.changes).toEqual(['only the mark of Troupe']);
  expect(preview.files.find(({ path }) => path === paths.task('3'))?.changes).toEqual(['new: "Made while away"']);
  expect(filesIn(root)).toEqual(before);
  expect(await ledger.view(TEAM, (_state, now) => now)).toBe(seq);

  await bridge.join(NATIVE);
  await settled();
  const after = filesIn(root);
  const written = Object.keys(after).filter((path) => after[path] !== '' && after[path] !== before[path]);
  expect(written.toSorted()).toEqual(preview.files.map(({ path }) => path).toSorted());
  expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'in_progress', assigneeId: 'alice' });
});
