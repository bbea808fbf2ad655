import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { until } from '../until.ts';
import { plainGit, write } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';
import { bothHere, makeProject, up } from './work-project.ts';

type Run = NonNullable<ResultOf<'work.setup'>>;

const setupOf = (stage: Stage, member: string) => stage.ask<Run>('work', 'setup', member, '--team', stage.team);

/** Commits files to a project. */
function commit(repository: string, files: Record<string, string>): void {
  write(repository, files);
  plainGit(repository, 'add', ...Object.keys(files));
  plainGit(repository, 'commit', '-qm', 'more');
}

/** How often a setup ran in the workspace of a member, from a file that it writes outside. */
const runsIn = (log: string, member: string): string[] =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`${member} `))
    : [];

const newStage = shareDaemon();

describe('the setup of workspaces', () => {
  test('runs before a member begins, and again only when a file that it reads changed', async () => {
    const stage = newStage();
    const log = join(stage.folder, 'setups');
    // The first task changes the lock file; the next claim brings that to the other member.
    const edit = `[ -e node_modules/ready ] || exit 1; cat node_modules/ready > $NAME-$TASK.txt; [ $TASK = 1 ] && echo 2 > package-lock.json || true\n`;
    const work = { setup: { command: './setup.sh', env: ['TOKEN_FOR_SETUP'] } };
    const repository = makeProject(stage, edit, {
      work,
      tasks: [
        { id: 'a', title: 'First', assign: 'ann' },
        { title: 'Second', assign: 'bob', needs: ['a'] },
        { title: 'Third', assign: 'bob', needs: ['a'] },
      ],
    });
    const script = `#!/bin/sh
echo "$TROUPE_MEMBER_ID slot=$TROUPE_SLOT token=$TOKEN_FOR_SETUP lock=$(cat package-lock.json) env=$(cat .env) in=$(pwd)" >> ${log}
mkdir -p node_modules; echo "slot $TROUPE_SLOT" > node_modules/ready
echo installed; echo with a warning >&2
`;
    commit(repository, { 'setup.sh': script, 'package-lock.json': '1\n', '.worktreeinclude': '.env\n' });
    plainGit(repository, 'update-index', '--chmod=+x', 'setup.sh');
    plainGit(repository, 'commit', '-qm', 'executable');
    plainGit(repository, 'checkout', '-q', '--', 'setup.sh');
    writeFileSync(join(repository, '.env'), 'mine\n');
    const asked = stage.start(['up', join(repository, 'troupe.yaml')], { TOKEN_FOR_SETUP: 'not-secret' });
    expect(await asked.ended).not.toBe(0);
    expect(asked.output.stderr).toContain('setup: ./setup.sh');
    expect(asked.output.stderr).toContain('sees your TOKEN_FOR_SETUP');
    expect(existsSync(log)).toBe(false);

    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes'], { TOKEN_FOR_SETUP: 'not-secret' });
    expect(await running.ended, running.output.stderr).toBe(0);
    const at = (member: string) => join(stage.home.directory, 'workspaces', stage.team, member);
    expect(runsIn(log, 'ann')).toEqual([
      expect.stringMatching(new RegExp(`slot=\\d token=not-secret lock=1 env=mine in=${at('ann')}$`)),
    ]);
    expect(runsIn(log, 'bob').map((line) => /lock=(\d)/.exec(line)?.[1])).toEqual(['1', '2']);
    const shown = await setupOf(stage, 'bob');
    expect(shown).toMatchObject({ state: 'done', wrote: [], output: 'installed\nwith a warning\n' });
    expect(shown.reads).toEqual(['package-lock.json', 'setup.sh']);
  });

  test('that fails stops the member without a try, tells a person why, and runs again on their word', async () => {
    const stage = newStage();
    const mended = join(stage.folder, 'mended');
    const command = `[ -e ${mended} ] || { echo cannot reach the registry >&2; (setsid sleep 600 &) ; exit 7; }`;
    const repository = makeProject(stage, 'echo done > $NAME.txt\n', { work: { setup: command } });
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    expect(await running.ended).toBe(1);
    expect(running.output.stdout).toContain('failed with exit code 7');
    const requests = await stage.client().call('request.list', { teamId: stage.team, status: 'pending' });
    expect(requests.map(({ kind, memberId }) => `${kind} ${memberId}`).sort()).toEqual(['restart ann', 'restart bob']);
    expect(requests[0]?.content).toContain('The end of its output:\ncannot reach the registry\n');
    const { stdout } = await stage.troupe('ps', '--team', stage.team);
    expect(stdout).toMatch(/ann .*failed with exit code 7; waits for your answer \(restart\): troupe approve ann/);
    expect(await setupOf(stage, 'ann')).toMatchObject({ state: 'failed', output: 'cannot reach the registry\n' });
    const task = await stage.task(stage.team, '1');
    expect(task).toMatchObject({ status: 'pending', rejections: 0 });

    writeFileSync(mended, '');
    for (const { id } of requests) expect((await stage.troupe('approve', id, '--team', stage.team)).code).toBe(0);
    await until('both tasks are done', async () =>
      (await stage.client().call('task.list', { teamId: stage.team })).every(({ status }) => status === 'completed'),
    );
    const members = await stage.client().call('member.list', { teamId: stage.team });
    expect(members.every(({ metadata }) => metadata?.['waiting'] === undefined)).toBe(true);
    await stage.troupe('down', stage.team);
  });

  test('is shown while a member waits for it, with what it prints', async () => {
    const stage = newStage();
    const go = join(stage.folder, 'go');
    const setup = `echo begun in slot $TROUPE_SLOT; until [ -e ${go} ]; do sleep 0.05; done; echo ended`;
    const repository = makeProject(stage, 'echo done > $NAME.txt\n', { work: { setup } });
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const waits = 'waits: its workspace is being prepared by its setup: echo begun';
    await until('it is said', async () => {
      const { stdout } = await stage.troupe('ps', '--team', stage.team);
      return ['ann', 'bob'].every((name) =>
        stdout.split('\n').some((line) => line.includes(name) && line.includes(waits)),
      );
    });
    expect(await setupOf(stage, 'ann')).toMatchObject({
      state: 'running',
      output: expect.stringMatching(/^begun in slot \d\n$/),
    });
    writeFileSync(go, '');
    expect(await running.ended, running.output.stderr).toBe(0);
    expect(running.output.stdout).toContain('its workspace is being prepared by its setup');
    const { stdout } = await stage.troupe('work', 'setup', 'ann', '--team', stage.team);
    expect(stdout).toMatch(/state +went well, [\d.]+ s\n[^]*\n +begun in slot \d\n +ended\n$/);
  });

  test('may change tracked files: the member and the lead hear of it, and it is not kept as work of nobody', async () => {
    const stage = newStage();
    const setup = 'echo "$TROUPE_MEMBER_ID" >> lock.txt; echo made > made.txt; mkdir -p node_modules';
    const repository = makeProject(stage, 'cat made.txt > $NAME.txt; git checkout -q lock.txt; rm made.txt\n', {
      work: { setup },
    });
    commit(repository, { 'lock.txt': 'lock\n' });
    const { code, stderr } = await up(stage, repository);
    expect(code, stderr).toBe(0);
    expect(await setupOf(stage, 'ann')).toMatchObject({ state: 'done', wrote: ['lock.txt', 'made.txt'] });
    for (const memberId of ['ann', 'lead']) {
      const mail = await stage.client().call('message.inbox', { teamId: stage.team, memberId });
      const told = mail.filter(
        ({ content }) => content.includes('workspace of ann') && content.includes('changed lock.txt, made.txt'),
      );
      expect(told, memberId).toHaveLength(1);
    }
    const events = (await stage.client().call('event.list', { teamId: stage.team, after: 0 })).flatMap(
      (one) => one.events,
    );
    expect(events.filter(({ type }) => type === 'work:kept')).toEqual([]);
    const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:ann.txt`)).toBe('made');
  });

  test('that a member changed is run for the next one only after a person has read it', async () => {
    const stage = newStage();
    const repository = makeProject(
      stage,
      `[ $TASK = 1 ] && printf '#!/bin/sh\\necho new > node_modules/which\\n' > setup.sh; cat node_modules/which > $NAME.txt\n`,
      {
        work: { setup: 'mkdir -p node_modules && sh setup.sh' },
        tasks: [
          { id: 'a', title: 'First', assign: 'ann' },
          { title: 'Second', assign: 'bob', needs: ['a'] },
          { title: 'Third', assign: 'ann', needs: ['a'] },
        ],
      },
    );
    commit(repository, { 'setup.sh': '#!/bin/sh\necho old > node_modules/which\n' });
    const stopped = await up(stage, repository, '--keep');
    expect(stopped.code, stopped.stdout).toBe(1);
    expect(stopped.stdout).toContain('was not run: its files changed since you approved them (setup.sh)');
    // One yes is for all members that wait for it.
    const waiting = () =>
      stage.ask<ResultOf<'request.list'>>('request', 'list', '--status', 'pending', '--team', stage.team);
    await until('both wait', async () => (await waiting()).length === 2);
    const { stdout } = await stage.troupe('approve', 'bob', '--team', stage.team);
    expect(stdout).toContain('bob is started again.');
    for (const id of ['2', '3']) {
      await until(`task ${id} is done`, async () => (await stage.task(stage.team, id)).status === 'completed');
    }
    expect(await waiting()).toEqual([]);
    const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    // Members that stopped lost their tasks, so the first one that is back does Second.
    const { assigneeId } = await stage.task(stage.team, '2');
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:${assigneeId}.txt`)).toBe('new');
    await stage.troupe('down', stage.team);
  });

  test.for([
    ['a folder with work', 'echo mine > x.log; echo stray > stray.txt', 'mine'],
    ['a clean folder', 'echo mine > x.log', 'new'],
  ] as const)('whose file is in the way in %s makes its member wait, and its task does not fail', async (each) => {
    const [, setup, found] = each;
    const stage = newStage();
    const repository = makeProject(
      stage,
      `case $TASK in 1) echo > .gitignore; echo new > x.log;; *) cat x.log > $NAME.txt;; esac\n`,
      {
        work: { setup },
        tasks: [
          { id: 'a', title: 'First', assign: 'ann' },
          { title: 'Second', assign: 'bob', needs: ['a'] },
        ],
      },
    );
    commit(repository, { '.gitignore': '*.log\n' });
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const path = join(stage.home.directory, 'workspaces', stage.team, 'bob', 'x.log');
    await until('it is said', async () => {
      const { stdout } = await stage.troupe('ps', '--team', stage.team);
      return stdout.includes('waits: its workspace cannot be used: "x.log"');
    });
    expect(await stage.task(stage.team, '2')).toMatchObject({ status: 'in_progress' });
    rmSync(path);
    expect(await running.ended, running.output.stderr).toBe(0);
    const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:bob.txt`)).toBe(found);
  });

  test('whose file is in the way of merged work does not stop the merge queue', async () => {
    const stage = newStage();
    const { folder } = stage;
    // Two by two they begin from the same commit: the second of each two is merged, and judged in the folder of the queue.
    const edit = `P=$(((TASK + 1) / 2)); touch ${folder}/$NAME.$P
until [ -e ${folder}/ann.$P ] && [ -e ${folder}/bob.$P ]; do sleep 0.05; done
echo $TASK > $TASK.txt; [ $TASK = 3 ] && echo > .gitignore || true
`;
    const repository = makeProject(stage, edit, {
      work: { setup: 'echo mine > x.log' },
      hooks: { TaskCompleted: { command: './gate.sh' } },
      tasks: [
        { id: 'a', title: 'First', assign: 'ann' },
        { id: 'b', title: 'Second', assign: 'bob' },
        { title: 'Third', assign: 'ann', needs: ['a', 'b'] },
        { title: 'Fourth', assign: 'bob', needs: ['a', 'b'] },
      ],
    });
    commit(repository, { '.gitignore': '*.log\n' });
    const done = await up(stage, repository);
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('4 of 4 tasks completed') });
    const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:x.log`)).toBe('mine');
  });
});

test('an ignored file that is in the way of a conflict makes room, and the member is told', async () => {
  const stage = newStage();
  const { folder, home, team } = stage;
  const edit = `case $NAME in
ann) ${bothHere(stage)}; echo > .gitignore; echo new > x.log; sed -i 's/^line 5$/line 5 by ann/' common.txt;;
bob) if grep -q '^<<<<<<<' common.txt; then cat x.log > seen.txt; sed -i -E '/^[<|=>]{7}/d' common.txt
  else echo mine > x.log; sed -i 's/^line 5$/line 5 by bob/' common.txt; ${bothHere(stage)}
  until [ -e ${folder}/landed ]; do sleep 0.05; done; fi;;
esac
`;
  const repository = makeProject(stage, edit);
  commit(repository, { '.gitignore': '*.log\n' });
  const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
  await until('the first has landed', async () => {
    if (!existsSync(home.card)) return false;
    const { code, stdout } = await stage.troupe('task', 'show', '1', '--team', team, '--json');
    return code === 0 && (JSON.parse(stdout) as { status: string }).status === 'completed';
  });
  writeFileSync(join(folder, 'landed'), '');
  expect(await running.ended, running.output.stderr).toBe(0);
  expect(running.output.stdout + running.output.stderr).toContain('In the workspace of bob, x.log made room');
  const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', team);
  expect(plainGit(work.depot ?? '', 'show', `${work.tip}:seen.txt`)).toBe('new');
  const trash = join(home.directory, 'trash');
  const moved = readdirSync(trash).filter((name) => name.includes(`${team}.bob`));
  expect(moved.map((name) => readFileSync(join(trash, name, 'x.log'), 'utf8'))).toEqual(['mine\n']);
});
