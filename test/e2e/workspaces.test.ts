import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { until } from '../until.ts';
import { makeRepository, plainGit, write } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import { AGENT, bothHere, EACH_A_LINE, LINES, makeProject, pictureOf, up } from './work-project.ts';

type Work = ResultOf<'work.show'>;

describe('members with workspaces of their own', () => {
  const newStage = shareDaemon();

  test('change one file at once, and both changes land; the checkout changes only with troupe merge', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    const before = pictureOf(repository);
    const { code, stdout, stderr } = await up(stage, repository);
    expect(code, stderr).toBe(0);
    const head = plainGit(repository, 'rev-parse', '--short=7', 'HEAD');
    expect(stdout).toContain(`Workspaces: each member has its own, from ${head} of ${repository}\n`);
    expect(stdout).toContain(`Landed on troupe/${stage.team}: 3 files (+4 -2)`);
    expect(pictureOf(repository)).toEqual(before);

    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(work.tasks?.map(({ state, files }) => [state, files])).toEqual([
      ['landed', 2],
      ['landed', 2],
    ]);
    expect(work.members?.map(({ slot }) => slot).sort()).toEqual([0, 1]);
    expect(plainGit(work.depot ?? '', 'rev-parse', `refs/heads/troupe/${stage.team}`)).toBe(work.tip);
    const { stdout: diff } = await stage.troupe('diff', '--team', stage.team);
    expect(diff).toContain('+line 2 by ann\n');
    expect(diff).toContain('+line 38 by bob\n');
    expect(pictureOf(repository)).toEqual(before);

    writeFileSync(join(repository, 'common.txt'), `${LINES.replace('line 2\n', 'line 2 of mine\n')}\n`);
    plainGit(repository, 'commit', '-qam', 'mine');
    const refused = await stage.troupe('merge', '--team', stage.team);
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        'does not merge into main without a conflict in common.txt. Nothing was changed.',
      ),
    });
    expect(plainGit(repository, 'status', '--porcelain')).toBe('?? troupe.yaml');
    plainGit(repository, 'reset', '-q', '--hard', 'HEAD~1');

    const hint = `To bring the branch into your checkout: troupe merge --team ${stage.team}\n`;
    expect((await stage.troupe('work', '--team', stage.team)).stdout).toContain(hint);
    const merged = await stage.troupe('merge', '--team', stage.team);
    expect(merged.stdout, merged.stderr).toContain(`Merged troupe/${stage.team} into main: 3 files (+4 -2)`);
    const text = readFileSync(join(repository, 'common.txt'), 'utf8');
    expect([text.includes('line 2 by ann'), text.includes('line 38 by bob')]).toEqual([true, true]);
    const log = plainGit(repository, 'log', '-2', '--format=%s|%(trailers:key=Task-Id,valueonly,separator=)');
    expect(log.split('\n').sort()).toEqual(['First|1', 'Second|2']);
    const again = await stage.troupe('merge', '--team', stage.team);
    // The command does not run there, so it says where it merged.
    expect(again.stdout).toBe(`In ${repository}: main has all of troupe/${stage.team} already.\n`);
    expect((await stage.troupe('work', '--team', stage.team)).stdout).not.toContain('troupe merge');
  });

  test('bring both sides together if their work conflicts, without git', async () => {
    const stage = newStage();
    const edit = `sed -i "s/^line 5$/line 5 by $NAME/" common.txt; echo $NAME > $NAME.txt`;
    // What landed stays, then comes what is its own.
    const resolve = `cat > node_modules/said; sed -i '/^<<<<<<< /d;/^||||||| /,/^=======$/d;/^>>>>>>> /d' common.txt`;
    const repository = makeProject(
      stage,
      `mkdir -p node_modules; if grep -q '^<<<<<<<' common.txt; then ${resolve}; else ${bothHere(stage)}; ${edit}; fi\n`,
    );
    const { code, stdout, stderr } = await up(stage, repository);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`Landed on troupe/${stage.team}: 3 files (+4 -1)`);
    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(work.tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
    const text = plainGit(work.depot ?? '', 'show', `${work.tip}:common.txt`);
    const [first, last] = /line 4\nline 5 by (\w+)\nline 5 by (\w+)\nline 6/.exec(text)?.slice(1) ?? [];
    expect(new Set([first, last])).toEqual(new Set(['ann', 'bob']));
    const task = await stage.task(stage.team, last === 'ann' ? '1' : '2');
    expect(task).toMatchObject({ rejections: 0, work: { sentBack: 1, memberId: last } });
    const other = first === 'ann' ? 'task #1 "First" of ann' : 'task #2 "Second" of bob';
    expect(task.feedback).toContain(
      `The work does not merge onto troupe/${stage.team}: 1 file conflicts with work that landed after this work began.\n` +
        `- common.txt; changed by ${other}\n`,
    );
    expect(task.feedback).toContain('common.txt, line 5:\n<<<<<<< ');
    const folder = join(stage.home.directory, 'workspaces', stage.team, last ?? '');
    const said = JSON.parse(readFileSync(join(folder, 'node_modules/said'), 'utf8')) as { prompt: string };
    expect(said.prompt).toContain(task.feedback);
    // Its work went on in what landed: nothing is left over.
    await stage.troupe('team', 'delete', stage.team, '--yes');
    expect(plainGit(work.depot ?? '', 'for-each-ref', 'refs/kept')).toBe('');
  });

  test('hand in only what a gate has accepted in their own folder', async () => {
    const stage = newStage();
    const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block' } };
    const tries = '[ -e node_modules ] && echo fixed > $NAME.txt || { mkdir node_modules; echo bad > $NAME.txt; }\n';
    // Alone: the gate judges work in another folder when something has landed meanwhile.
    const tasks = [{ title: 'First', assign: 'ann' }];
    const repository = makeProject(stage, tries, { hooks, tasks });
    writeFileSync(join(repository, 'gate.sh'), '#!/bin/sh\ngrep -q bad *.txt && { pwd >&2; exit 2; }\nexit 0\n');
    plainGit(repository, 'commit', '-qam', 'a gate');
    const { code, stderr } = await up(stage, repository);
    expect(code, stderr).toBe(0);
    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:ann.txt`)).toBe('fixed');
    const task = await stage.task(stage.team, '1');
    const [ann] = work.members?.filter(({ memberId }) => memberId === 'ann') ?? [];
    expect(task).toMatchObject({ rejections: 1, feedback: ann?.folder });
    expect(plainGit(work.depot ?? '', 'log', '-1', '--format=%an', work.tip ?? '')).not.toBe('');
  });

  test('hand in only what a gate accepts together with what landed meanwhile', async () => {
    const stage = newStage();
    const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block' } };
    // Each alone is fine; both together need a third file, which the second member makes when it sees both.
    const edit = `if [ -e ann.txt ] && [ -e bob.txt ]; then echo both > both.txt; else ${bothHere(stage)}; echo $NAME > $NAME.txt; fi\n`;
    const work = { setup: 'mkdir -p node_modules && touch node_modules/ready' };
    const repository = makeProject(stage, edit, { hooks, work });
    const gate =
      '#!/bin/sh\n[ -e node_modules/ready ] || exit 2\n[ -e ann.txt ] && [ -e bob.txt ] && [ ! -e both.txt ] || exit 0\necho "both.txt is missing in $(pwd)" >&2\nexit 2\n';
    writeFileSync(join(repository, 'gate.sh'), gate);
    plainGit(repository, 'commit', '-qam', 'a gate');
    const { code, stderr } = await up(stage, repository);
    expect(code, stderr).toBe(0);
    const { tasks: works, depot = '', tip = '' } = await stage.ask<Work>('work', '--team', stage.team);
    expect(works?.map(({ state }) => state)).toEqual(['landed', 'landed']);
    expect(plainGit(depot, 'ls-tree', '--name-only', tip)).toMatch(/^ann.txt\nbob.txt\nboth.txt$/m);
    const tasks = await Promise.all(['1', '2'].map((id) => stage.task(stage.team, id)));
    const second = tasks.find(({ rejections }) => rejections > 0);
    expect(tasks.map(({ rejections }) => rejections).sort((a, b) => a - b)).toEqual([0, 1]);
    const landing = join(stage.home.directory, 'workspaces', stage.team, '@landing');
    expect(second?.feedback).toBe(
      'The gate rejected this work merged with what landed since it began. That is in your folder now. ' +
        `It says:\nboth.txt is missing in ${landing}`,
    );
    await stage.troupe('team', 'delete', stage.team, '--yes');
    expect(plainGit(depot, 'for-each-ref', 'refs/kept')).toBe('');
  });

  test('change a gate only with the agreement of a person, and what it is then judges what follows', async () => {
    const stage = newStage();
    const hooks = { TaskCompleted: { command: './gate.sh' } };
    const strict = '#!/bin/sh\\n[ ! -e bad.txt ] || { echo no bad.txt >&2; exit 2; }\\n';
    const edit = `
case $TASK in
1) ${bothHere(stage)}; printf '${strict}' > gate.sh;;
2) ${bothHere(stage)}; echo bob > bob.txt;;
3) [ -e node_modules/once ] && rm bad.txt && echo good > good.txt || { mkdir -p node_modules; touch node_modules/once bad.txt; };;
esac
`;
    const tasks = [
      { id: 'one', title: 'First', assign: 'ann' },
      { title: 'Second', assign: 'bob' },
      { title: 'Third', assign: 'bob', needs: ['one'] },
    ];
    // Programs of the repository that members run are handed in only after troupe work trust.
    const agent = { exec: ['sh', join(stage.folder, 'agent.sh')] };
    writeFileSync(join(stage.folder, 'agent.sh'), AGENT.replace('. ./edit.sh', edit));
    const members = ['ann', 'bob'].map((name) => ({ name, agent }));
    const repository = makeProject(stage, '', { hooks, tasks, members });
    const upping = stage.troupe('up', join(repository, 'troupe.yaml'), '--yes');
    const request = await until('a person is asked', async () => {
      const { code, stdout } = await stage.troupe('request', 'list', '--team', stage.team, '--json');
      return code === 0 ? (JSON.parse(stdout) as { id: string; taskId: string; content: string }[])[0] : undefined;
    });
    expect(request.taskId).toBe('1');
    expect(request.content).toMatch(/"\.\/gate\.sh" changed since it was approved \(gate\.sh\) and was not run/);
    expect(request.content).toContain('Yes lands this work unjudged, and approves what it makes of the gate');
    await until('the other lands', async () => (await stage.task(stage.team, '2')).status === 'completed');
    const yes = await stage.troupe('request', 'answer', request.id, '--approve', '--team', stage.team);
    expect(yes.code, yes.stderr).toBe(0);
    const { code, stderr } = await upping;
    expect(code, stderr).toBe(0);
    expect(await stage.task(stage.team, '3')).toMatchObject({
      rejections: 1,
      feedback: expect.stringContaining('no bad.txt'),
    });
    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(work.tasks?.map(({ state }) => state)).toEqual(['landed', 'landed', 'landed']);
    const files = plainGit(work.depot ?? '', 'ls-tree', '--name-only', work.tip ?? '').split('\n');
    expect([files.includes('good.txt'), files.includes('bad.txt')]).toEqual([true, false]);
    const requests = await stage.ask<{ kind: string }[]>('request', 'list', '--team', stage.team);
    expect(requests.filter(({ kind }) => kind === 'gate')).toHaveLength(1);
  });

  test('are refused if their programs are not committed, and take them along on request', async () => {
    const stage = newStage();
    const repository = makeProject(stage, 'echo old > $NAME.txt\n');
    write(repository, { 'agent.sh': AGENT.replace('. ./edit.sh', 'echo new > $NAME.txt'), 'draft.txt': 'draft\n' });
    const before = pictureOf(repository);
    // Nobody is shown commands to approve that are refused afterwards.
    const unasked = await stage.troupe('up', join(repository, 'troupe.yaml'));
    expect(unasked).toMatchObject({ code: 4, stderr: expect.stringContaining('agent.sh is missing or different') });
    expect(unasked.stderr).not.toContain('commands that run as you');
    expect(unasked.stderr).not.toContain('not committed, so');
    const refused = await up(stage, repository);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('2 files are not committed, so the members do not see them: agent.sh, draft.txt.');
    expect(refused.stderr).toMatch(
      /where agent\.sh is missing or different: commit it, take all uncommitted files along/,
    );
    expect((await up(stage, repository, '--with-changes')).code).toBe(0);
    const work = await stage.ask<Work>('work', '--team', stage.team);
    const show = (path: string) => plainGit(work.depot ?? '', 'show', `${work.tip}:${path}`);
    expect([show('ann.txt'), show('draft.txt')]).toEqual(['new', 'draft']);
    expect(pictureOf(repository)).toEqual(before);
  });

  test('find their files as they left them if they are killed and claim the task again', async () => {
    const stage = newStage();
    const halves =
      'if [ -e $NAME.txt ]; then echo second >> $NAME.txt; else echo first > $NAME.txt; [ $NAME = bob ] || sleep 600; fi\n';
    const repository = makeProject(stage, halves);
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const half = join(stage.home.directory, 'workspaces', stage.team, 'ann', 'ann.txt');
    await until('half of the work is done', () => existsSync(half) && readFileSync(half, 'utf8') === 'first\n');
    process.kill(await stage.pidOf(stage.team, 'ann'), 'SIGKILL');
    expect(await running.ended, running.output.stderr).toBe(0);
    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:ann.txt`)).toBe('first\nsecond');
  });

  test('hand in what a person changes in their folder during a turn, too', async () => {
    const stage = newStage();
    const go = join(stage.folder, 'go');
    const edit = `echo by $NAME > $NAME.txt; [ $NAME = bob ] || until [ -e ${go} ]; do sleep 0.05; done\n`;
    const repository = makeProject(stage, edit);
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const folder = join(stage.home.directory, 'workspaces', stage.team, 'ann');
    await until('ann works', () => existsSync(join(folder, 'ann.txt')));
    write(folder, {
      'mine.txt': 'by a person\n',
      'common.txt': `${LINES.replace('line 9\n', 'line 9 by a person\n')}\n`,
    });
    writeFileSync(go, '');
    expect(await running.ended, running.output.stderr).toBe(0);
    const work = await stage.ask<Work>('work', '--team', stage.team);
    const show = (path: string) => plainGit(work.depot ?? '', 'show', `${work.tip}:${path}`);
    expect([show('ann.txt'), show('mine.txt')]).toEqual(['by ann', 'by a person']);
    expect(show('common.txt')).toContain('line 9 by a person\n');
    const landed = work.tasks?.find(({ memberId }) => memberId === 'ann');
    expect(landed?.paths).toEqual(['ann.txt', 'common.txt', 'mine.txt']);
  });

  test('are not made without a repository, for one member, or if the file says so, and troupe up says why', async () => {
    const stage = newStage();
    const member = (name: string) => stage.member(name, 'quick');
    const file = (name: string, more: object) => ({ team: `${stage.team}-${name}`, tasks: [], ...more });
    const shared = async (path: string) => (await stage.troupe('up', path, '--yes')).stdout.split('\n', 1)[0];
    stage.teamFile(file('bare', { members: [member('ann'), member('bob')] }));
    expect(await shared('troupe.yaml')).toBe('Workspaces: shared, because there is no git repository');
    const repository = join(stage.folder, 'project');
    makeRepository(repository);
    const inside = (content: object): string => {
      writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(content));
      return 'project/troupe.yaml';
    };
    expect(await shared(inside(file('one', { members: [member('ann')] })))).toBe(
      'Workspaces: shared, because only one member works here',
    );
    // What lands nowhere cannot be approved first.
    const asking = inside(file('asking', { members: [member('ann')], work: { approve: 'always' } }));
    expect((await stage.troupe('up', asking, '--yes')).stdout).toContain('troupe/');
    const unable = { members: [member('ann')], work: { workspaces: 'shared', review: 'ann' } };
    expect(await stage.troupe('up', inside(file('unable', unable)), '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('work.review needs members with workspaces of their own'),
    });
    const said = { work: { workspaces: 'shared' }, members: [member('ann'), member('bob')] };
    expect(await shared(inside(file('said', said)))).toBe('Workspaces: shared, because the team file says so');
  });
});
