import { readdirSync, writeFileSync } from 'node:fs';
import { expect, describe, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { writeInPlace } from './foreign.ts';
import { addMember, file, NATIVE, read, readStamp, readTeam, setStage, TEAM } from './stage.ts';

describe('a team that leaves a native one', () => {
  test('leaves held tasks free, completed tasks completed, and nothing of its own in any file', async () => {
    const { bridge, ledger, tasks, paths, settled } = await setStage();
    writeFileSync(paths.task('3'), JSON.stringify(file('3', { metadata: { mine: 1 } })));
    writeFileSync(paths.task('4'), JSON.stringify(file('4')));
    await settled();
    for (const id of ['1', '2', '3', '4']) await tasks.claimTask(TEAM, id, 'codex-1');
    await tasks.completeTask(TEAM, '2', 'codex-1');
    const failure = { type: 'task.fail', by: 'codex-1', taskId: '4', reason: 'no way' } as const;
    await ledger.execute(TEAM, failure, () => undefined);
    await settled();
    const failed = read(paths.task('4'));
    await bridge.leave(TEAM);
    expect(read(paths.task('1'))).toEqual(file('1'));
    expect(read(paths.task('2'))).toEqual(file('2', { status: 'completed', owner: 'codex-1' }));
    expect(read(paths.task('3'))).toEqual(file('3', { metadata: { mine: 1 } }));
    // The native list has no status for it, and its lead got a message about it.
    expect(read(paths.task('4'))).toEqual(failed);
    expect(readdirSync(paths.tasks).filter((name) => !name.endsWith('.json'))).toEqual([]);
    // In our team the task stays as it was.
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1' });
  });

  test('takes over what natives did in the meantime when it joins again, and shows what its members still hold', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await tasks.claimTask(TEAM, '2', 'codex-1');
    await tasks.completeTask(TEAM, '2', 'codex-1');
    await bridge.leave(TEAM);
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), subject: 'Other words' });
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), status: 'pending' });
    await bridge.join(NATIVE);
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ title: 'Other words', assigneeId: 'codex-1' });
    expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'pending' });
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1', status: 'in_progress', subject: 'Other words' });
    expect(readStamp(paths.task('1'))).toHaveProperty('revision');
  });

  test('keeps a task of its member when it joins again, and reports a native that took it in the meantime', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await bridge.leave(TEAM);
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
    await bridge.join(NATIVE);
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1' });
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
    expect(bridge.joined()[0]?.notices.join()).toContain('task 1:');
  });
});

describe('a team that was deleted when its daemon was killed', () => {
  test('is removed from the native one at the next start, and no other team is', async () => {
    const { bridge, ledger, tasks, paths, open, journal, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    await bridge.close();
    await ledger.drop(TEAM);
    const other = open('another home', memoryJournal());
    await other.bridge.start();
    expect(readTeam(paths.config).members).toHaveLength(3);
    const later = open('home', journal);
    await later.bridge.start();
    await expect.poll(() => read(paths.config)).not.toHaveProperty('metadata');
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'alice']);
    expect(read(paths.task('1'))).toEqual(file('1'));
    await later.bridge.join(NATIVE);
    await addMember(later.ledger, 'codex-1');
    expect((await later.tasks.listTasks(TEAM)).map(({ status }) => status)).toEqual(['pending', 'pending']);
  });
});
