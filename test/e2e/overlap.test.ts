import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { until } from '../until.ts';
import { plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import { makeProject } from './work-project.ts';

type Work = ResultOf<'work.show'>;

describe('members that change the same file', () => {
  const newStage = shareDaemon();

  test('hear of it while they work, before either of them completes its task', async () => {
    const stage = newStage();
    const go = join(stage.folder, 'go');
    const edit = `sed -i "s/^line 5$/line 5 by $NAME/" common.txt; touch ${stage.folder}/$NAME.done; until [ -e ${go} ]; do sleep 0.05; done`;
    // What landed stays, then comes what is its own.
    const resolve = `sed -i '/^<<<<<<< /d;/^||||||| /,/^=======$/d;/^>>>>>>> /d' common.txt`;
    const repository = makeProject(stage, `if grep -q '^<<<<<<<' common.txt; then ${resolve}; else ${edit}; fi\n`);
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const isDone = (name: string): boolean => existsSync(join(stage.folder, `${name}.done`));
    await until('both have changed it', () => isDone('ann') && isDone('bob'));
    // The daemon does the same after each turn, and every 30 s during one.
    for (const name of ['ann', 'bob']) await stage.troupe('work', 'save', name, '--team', stage.team);
    const look = () => stage.ask<Work>('work', '--team', stage.team);
    await until('the overlap is known', async () => (await look()).overlaps?.length === 1);
    const [overlap] = (await look()).overlaps ?? [];
    expect(overlap).toMatchObject({
      sides: [
        { memberId: 'ann', taskId: '1' },
        { memberId: 'bob', taskId: '2' },
      ],
      files: 1,
      paths: ['common.txt'],
      conflicts: ['common.txt'],
    });
    const { stdout } = await stage.troupe('work', '--team', stage.team);
    expect(stdout).toMatch(/CHANGED BY SEVERAL +ann #1 +bob #2 *\ncommon\.txt +conflicts +conflicts *\n/);
    const { stdout: story } = await stage.troupe('event', 'list', '--team', stage.team);
    expect(story).toContain('change the same file; common.txt would conflict');
    for (const name of ['ann', 'bob']) {
      const mail = await stage.ask<{ content: string }[]>('inbox', '--team', stage.team, '--as', name);
      expect(mail.map(({ content }) => content)).toEqual([
        expect.stringContaining(
          'ann (task #1, "First") and bob (task #2, "Second") have both changed common.txt. These changes already conflict',
        ),
      ]);
    }
    writeFileSync(go, '');
    expect(await running.ended, running.output.stderr).toBe(0);
    const { overlaps, tasks } = await look();
    expect(overlaps).toEqual([]);
    expect(tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
  });

  test('take turns if their tasks name it', async () => {
    const stage = newStage();
    const go = join(stage.folder, 'go');
    const edit =
      `mkdir ${stage.folder}/inside || exit 1; until [ -e ${go} ]; do sleep 0.05; done; ` +
      `sed -i "s/^line 5.*$/&, $NAME/" common.txt; rmdir ${stage.folder}/inside\n`;
    const tasks = [
      { title: 'First', assign: 'ann', files: ['common.txt'] },
      { title: 'Second', assign: 'bob', files: ['*.txt'] },
    ];
    const repository = makeProject(stage, edit, { tasks });
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    await until('one of them has begun', () => existsSync(join(stage.folder, 'inside')));
    const list = await stage.ask<ResultOf<'task.list'>>('task', 'list', '--team', stage.team);
    const held = list.find(({ status }) => status === 'in_progress');
    const waiting = list.find(({ status }) => status === 'blocked');
    expect(waiting).toMatchObject({
      filesHeldBy: [held?.id],
      blockedReason: `changes the same files as task ${held?.id} (in progress, held by ${held?.assigneeId})`,
    });
    const refused = await stage.troupe('task', 'claim', waiting?.id ?? '', '--team', stage.team, '--as', 'bob');
    if (waiting?.assigneeId === 'bob') expect(refused.stderr).toContain('changes the same files as task 1');
    writeFileSync(go, '');
    expect(await running.ended, running.output.stderr).toBe(0);
    const { depot = '', tip = '', tasks: works } = await stage.ask<Work>('work', '--team', stage.team);
    expect(works?.map(({ state, sentBack }) => [state, sentBack])).toEqual([
      ['landed', undefined],
      ['landed', undefined],
    ]);
    const [first, last] = held?.assigneeId === 'ann' ? ['ann', 'bob'] : ['bob', 'ann'];
    expect(plainGit(depot, 'show', `${tip}:common.txt`)).toContain(`line 5, ${first}, ${last}\n`);
  });
});
