import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { answerInPool } from '../cli/answer-pool.ts';
import { openTerminal } from '../cli/terminal.ts';
import type { Troupe } from '../cli/troupe.ts';
import { environmentFor } from '../daemon/serve.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { commitAll, plainEnvironment, plainGit, write } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import type { Answer, Stage } from './stage.ts';
import { bothHere, EACH_A_LINE, makeProject, pictureOf, up } from './work-project.ts';

type Work = ResultOf<'work.show'>;
type Leftovers = ResultOf<'work.leftovers'>;
type Saves = ResultOf<'work.saves'>;

/** Runs a command inside a folder, as a person there would. */
async function inside(stage: Stage, folder: string, words: readonly string[], env = {}): Promise<Answer> {
  const identity = plainEnvironment(stage.folder);
  const around = { ...identity, TROUPE_HOME: stage.home.directory, NO_COLOR: '1', ...env };
  const { status: code, ...output } = await answerInPool(words, { env: around, cwd: folder });
  return { code, ...output };
}

describe('commands about work', () => {
  const newStage = shareDaemon();

  test('find the team of the repository around them, also of a closed team and from a folder below', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    expect((await up(stage, repository)).code).toBe(0);
    const below = join(repository, 'below');
    mkdirSync(below);
    const work = await inside(stage, below, ['work', '--json']);
    expect(JSON.parse(work.stdout)).toMatchObject({ branch: `troupe/${stage.team}` });
    const diff = await inside(stage, repository, ['diff', '--stat']);
    expect(diff.stdout).toContain(`troupe/${stage.team} since `);
    // One mail for each task.
    const patch = await inside(stage, repository, ['patch']);
    expect(
      patch.stdout
        .match(/^Subject: .*$/gm)
        ?.map((line) => line.slice(-6))
        .sort(),
    ).toEqual([' First', 'Second']);
    // Also when it was moved meanwhile, and moved back.
    const moved = `${repository}-moved`;
    renameSync(repository, moved);
    const elsewhere = await inside(stage, stage.folder, ['merge', '--team', stage.team]);
    expect(elsewhere).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('in the folder to which you moved it'),
    });
    expect((await inside(stage, moved, ['merge'])).stdout).toContain(`Merged troupe/${stage.team} into main: `);
    renameSync(moved, repository);
    expect((await inside(stage, repository, ['merge'])).stdout).toContain('main has all of troupe/');
    const outside = await stage.troupe('merge');
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('No team is open: ') });
    const other = { team: `${stage.team}-b`, members: [stage.member('ann', 'quick')], work: { workspaces: 'own' } };
    writeFileSync(join(repository, 'other.yaml'), JSON.stringify(other));
    expect((await stage.troupe('up', join(repository, 'other.yaml'), '--yes')).code).toBe(0);
    const unclear = await inside(stage, repository, ['merge']);
    expect(unclear.stderr).toContain(`there is ${stage.team}, ${stage.team}-b. Such as: troupe merge --team `);
  });

  test('a merge that Ctrl-C ends leaves the checkout as it was, and can be done again', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    expect((await up(stage, repository)).code).toBe(0);
    write(repository, { 'own.txt': 'mine\n' });
    commitAll(repository);
    const before = plainGit(repository, 'rev-parse', 'HEAD');
    // A terminal sends it to git and to the program that runs git.
    const hook = join(repository, '.git/hooks/pre-merge-commit');
    writeFileSync(hook, '#!/bin/sh\nkill -INT "$(ps -o ppid= -p $PPID | tr -d " ")" $PPID\nsleep 0.1\n', {
      mode: 0o755,
    });
    const merge = stage.start(['merge', '--team', stage.team], plainEnvironment(stage.folder));
    expect(await merge.ended, merge.output.stderr).toBe(130);
    expect(merge.output.stderr).toContain('your files are as they were. It was ended by SIGINT.\n');
    expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(before);
    expect(plainGit(repository, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    rmSync(hook);
    expect((await inside(stage, repository, ['merge'])).stdout).toContain(`Merged troupe/${stage.team} into main: `);
  });

  test('write patches that git am takes, of the branch and of work that did not land', async () => {
    const stage = newStage();
    // Who is sent back goes no further.
    const edit = 'sed -i "s/^line 5$/line 5 by $NAME/" common.txt; printf "\\000\\001" > $NAME.bin';
    const program = `grep -q '^<<<<<<<' common.txt && sleep 600\n${bothHere(stage)}; ${edit}\n`;
    const repository = makeProject(stage, program, { work: { history: 'keep' } });
    stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const work = await until('one landed and one conflicts', async () => {
      if (!existsSync(stage.home.card)) return undefined;
      const { code, stdout } = await stage.troupe('work', '--team', stage.team, '--json');
      const now = code === 0 ? (JSON.parse(stdout) as Work) : undefined;
      return now?.tasks?.some(({ state }) => state === 'conflicted') ? now : undefined;
    });
    const before = pictureOf(repository);
    const [landed, lost] = ['landed', 'conflicted'].map((state) => work.tasks?.find((task) => task.state === state));
    const whole = await inside(stage, repository, ['patch', '-o', join(stage.folder, 'all.patch')]);
    expect(whole.stdout, whole.stderr).toContain('2 files (+1 -1)');
    const ofTask = await inside(stage, repository, ['patch', `#${lost?.taskId}`]);
    expect(ofTask.code, ofTask.stderr).toBe(0);
    writeFileSync(join(stage.folder, 'task.patch'), ofTask.stdout);
    expect(pictureOf(repository)).toEqual(before);
    // On a copy of the checkout, since both change the same line.
    for (const [name, by] of [
      ['all', landed],
      ['task', lost],
    ] as const) {
      plainGit(stage.folder, 'clone', '-q', repository, name);
      const copy = join(stage.folder, name);
      plainGit(copy, 'am', '-q', join(stage.folder, `${name}.patch`));
      expect(plainGit(copy, 'show', 'HEAD:common.txt')).toContain(`line 5 by ${by?.memberId}`);
      expect(readFileSync(join(copy, `${by?.memberId}.bin`))).toEqual(Buffer.of(0, 1));
      expect(plainGit(copy, 'log', '-1', '--format=%s')).toBe(by?.title);
      expect(plainGit(copy, 'rev-list', '--count', `origin/main..HEAD`)).toBe('1');
    }
    const shown = await stage.ask<{ patch: string; files: number }>('patch', '--team', stage.team);
    expect(shown.files).toBe(2);
    expect(shown.patch).toBe(readFileSync(join(stage.folder, 'all.patch'), 'utf8'));
    const none = await inside(stage, repository, ['patch', '99']);
    expect(none.code).toBe(3);
  });

  test('bring large files of git-lfs into the repository with the branch', async (context) => {
    needTool(context, 'git-lfs');
    const stage = newStage();
    const repository = makeProject(stage, 'head -c 5000 /dev/zero | tr "\\0" x > $NAME.bin\n');
    plainGit(repository, 'lfs', 'install', '--local');
    writeFileSync(join(repository, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    plainGit(repository, 'add', '.gitattributes');
    plainGit(repository, 'commit', '-qm', 'large files');
    expect((await up(stage, repository)).code).toBe(0);
    const file = join(stage.folder, 'large.patch');
    const patched = await inside(stage, repository, ['patch', '-o', file]);
    expect(patched.stderr).toMatch(/ann\.bin, bob\.bin are stored by git-lfs, .* now, so git am works there/);
    plainGit(repository, 'checkout', '-qb', 'patched');
    plainGit(repository, 'am', '-q', file);
    expect(readFileSync(join(repository, 'ann.bin'), 'utf8')).toBe('x'.repeat(5000));
    plainGit(repository, 'checkout', '-q', 'main');
    const merged = await inside(stage, repository, ['merge']);
    expect(merged.code, merged.stderr).toBe(0);
    expect(plainGit(repository, 'show', 'HEAD:ann.bin')).toContain('oid sha256:');
    const large = ['ann', 'bob'].map((name) => readFileSync(join(repository, `${name}.bin`), 'utf8'));
    expect(large).toEqual(['x'.repeat(5000), 'x'.repeat(5000)]);
    expect(plainGit(repository, 'status', '--porcelain')).toBe('?? troupe.yaml');
  });

  test("push the branch with the user's git and open a pull request with gh, or say how", async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE, { description: "Ada's lines" });
    expect((await up(stage, repository)).code).toBe(0);
    expect((await inside(stage, repository, ['pr'])).stderr).toContain('has no remote to push to');
    const remote = join(stage.folder, 'remote.git');
    plainGit(stage.folder, 'init', '-q', '--bare', remote);
    plainGit(repository, 'remote', 'add', 'origin', remote);
    const before = pictureOf(join(repository, '.git', 'refs', 'heads'));

    const branch = `refs/heads/troupe/${stage.team}`;
    plainGit(repository, 'push', '-q', 'origin', `HEAD:${branch}`);
    const foreign = plainGit(repository, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'of somebody else');
    plainGit(repository, 'push', '-q', 'origin', `${foreign}:${branch}`);
    const refused = await inside(stage, repository, ['pr']);
    expect(refused.stderr).toContain(
      `origin has a branch troupe/${stage.team} with commits that the team's does not have`,
    );
    expect(plainGit(remote, 'rev-parse', branch)).toBe(foreign);
    plainGit(repository, 'push', '-q', 'origin', '--delete', branch);

    const bare = join(stage.folder, 'without-gh');
    mkdirSync(bare);
    for (const program of ['git', 'node', 'sh']) linkProgram(program, bare);
    const told = await inside(stage, repository, ['pr'], { PATH: bare });
    expect(told.code, told.stderr).toBe(0);
    expect(told.stdout).toContain(`Pushed troupe/${stage.team} to origin: 3 files (+4 -2)`);
    expect(told.stdout).toContain(
      `gh pr create --head troupe/${stage.team} --title 'Ada'\\''s lines' --body 'Ada'\\''s lines\n`,
    );
    const work = await stage.ask<Work>('work', '--team', stage.team);
    expect(plainGit(remote, 'rev-parse', branch)).toBe(work.tip);

    const programs = join(stage.folder, 'programs');
    mkdirSync(programs);
    const record = join(stage.folder, 'gh.log');
    const gh = `#!/bin/sh\nfor word; do printf '%s\\0' "$word"; done > ${record}\npwd >&2\necho https://example.invalid/pull/1\n`;
    writeFileSync(join(programs, 'gh'), gh);
    chmodSync(join(programs, 'gh'), 0o755);
    // Git sets such variables for its hooks.
    const path = { PATH: [programs, process.env['PATH']].join(delimiter), GIT_DIR: '/none', GIT_INDEX_FILE: '/none' };
    const opened = await inside(stage, repository, ['pr', '--base', 'main', '--draft', '--json'], path);
    expect(JSON.parse(opened.stdout), opened.stderr).toMatchObject({ url: 'https://example.invalid/pull/1' });
    const words = readFileSync(record, 'utf8').split('\0').slice(0, -1);
    expect(words.slice(0, -1)).toEqual([
      'pr',
      'create',
      '--head',
      `troupe/${stage.team}`,
      '--base',
      'main',
      '--draft',
      '--title',
      "Ada's lines",
      '--body',
    ]);
    expect(words.at(-1)).toMatch(
      /^Ada's lines\n\n- First \(task 1, ann\): ann did it in .*\n- Second \(task 2, bob\): /,
    );
    expect(pictureOf(join(repository, '.git', 'refs', 'heads'))).toEqual(before);
  });

  test('list the saves and bring a workspace back to one, but not during a turn', async () => {
    const stage = newStage();
    const steps =
      'echo one > $NAME.txt; [ $NAME = bob ] || { touch $WORK.one; until [ -e $WORK.go ]; do sleep 0.05; done; echo two > $NAME.txt; }\n';
    const repository = makeProject(stage, `WORK=${stage.folder}/work\n${steps}`);
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes', '--keep']);
    await until('ann is in her turn', () => existsSync(join(stage.folder, 'work.one')));
    expect(await stage.troupe('work', 'save', 'ann', '--team', stage.team)).toMatchObject({ code: 0 });
    const [one] = await stage.ask<Saves>('work', 'saves', 'ann', '--team', stage.team);
    expect(one).toMatchObject({ memberId: 'ann', taskId: '1', files: 1, added: 1, removed: 0 });
    const refused = await stage.troupe('work', 'restore', one!.commit.slice(0, 8), '--team', stage.team);
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('ann is in a turn, and its agent works'),
    });
    writeFileSync(join(stage.folder, 'work.go'), '');
    expect(await running.ended, running.output.stderr).toBe(0);
    await until(
      'ann rests',
      async () => (await stage.client().call('member.show', { teamId: stage.team, memberId: 'ann' })).status === 'idle',
    );

    const folder = join(stage.home.directory, 'workspaces', stage.team, 'ann');
    expect(readFileSync(join(folder, 'ann.txt'), 'utf8')).toBe('two\n');
    writeFileSync(join(folder, 'ann.txt'), 'three\n');
    const restored = await inside(stage, repository, ['work', 'restore', one!.commit.slice(0, 8)]);
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stdout).toContain(`${folder} is as save ${one!.commit.slice(0, 7)} has it.`);
    expect(restored.stdout).toContain(
      'ann has no task that goes on with it: its next claim puts these files away again',
    );
    expect(readFileSync(join(folder, 'ann.txt'), 'utf8')).toBe('one\n');
    const before = /What was in it before: (\w+)\./.exec(restored.stdout)?.[1] ?? '';
    expect((await stage.troupe('work', 'restore', before, '--team', stage.team)).code).toBe(0);
    expect(readFileSync(join(folder, 'ann.txt'), 'utf8')).toBe('three\n');
    const none = await stage.troupe('work', 'restore', 'ffffffff', '--team', stage.team);
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('has no save "ffffffff"') });
    const { stdout: list } = await inside(stage, repository, ['work', 'saves']);
    expect(list).toMatch(/^SAVE +WHEN +WHO +TASK +CHANGED +BASE\n/);
    await stage.troupe('down', stage.team);
  });

  test('leave a branch, a merge and changes of the user alone, and say what was never merged', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    expect((await up(stage, repository)).code).toBe(0);
    const branch = `troupe/${stage.team}`;
    const foreign = plainGit(repository, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'of the user');
    plainGit(repository, 'branch', branch, foreign);
    const look = () => [pictureOf(join(repository, '.git', 'refs')), plainGit(repository, 'status', '--porcelain')];
    const before = look();
    const refused = await inside(stage, repository, ['merge']);
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`Your branch ${branch} has commits`) });
    expect(look()).toEqual(before);
    plainGit(repository, 'branch', '-D', branch);

    // The user resolves a conflict of their own.
    plainGit(repository, 'checkout', '-qb', 'side');
    write(repository, { 'common.txt': 'side\n' });
    plainGit(repository, 'commit', '-qam', 'side');
    plainGit(repository, 'checkout', '-q', 'main');
    write(repository, { 'common.txt': 'mine\n' });
    plainGit(repository, 'commit', '-qam', 'mine');
    expect(() => plainGit(repository, 'merge', 'side')).toThrow();
    write(repository, { 'common.txt': 'resolved\n' });
    const busy = await inside(stage, repository, ['merge']);
    expect(busy).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('A merge is in progress in your checkout.'),
    });
    expect(readFileSync(join(repository, 'common.txt'), 'utf8')).toBe('resolved\n');
    expect(plainGit(repository, 'rev-parse', 'MERGE_HEAD')).toBe(plainGit(repository, 'rev-parse', 'side'));
    plainGit(repository, 'merge', '--abort');
    plainGit(repository, 'reset', '-q', '--hard', 'HEAD~1');

    // With this setting, git puts the change away, merges, and calls it a success when the change conflicts.
    plainGit(repository, 'config', 'merge.autoStash', 'true');
    write(repository, { 'common.txt': 'not committed\n' });
    const dirty = await inside(stage, repository, ['merge']);
    expect(dirty).toMatchObject({ code: 4, stderr: expect.stringContaining('and your files are as they were') });
    expect(readFileSync(join(repository, 'common.txt'), 'utf8')).toBe('not committed\n');
    plainGit(repository, 'checkout', '-q', '--', 'common.txt');

    const troupe = { environment: environmentFor(stage.home, { NO_COLOR: '1' }) } as Pick<
      Troupe,
      'environment'
    > as Troupe;
    // In no save yet.
    const late = join(stage.home.directory, 'workspaces', stage.team, 'ann', 'late.txt');
    writeFileSync(late, 'late\n');
    const terminal = openTerminal(troupe, `troupe team delete ${stage.team}`, { columns: 200 });
    const asked = await terminal.see(/permanently\? \[y\/N\]/);
    expect(asked).toContain(
      `  ${branch}: 3 files (+4 -2) that no other branch of ${repository} has\n    troupe merge --team ${stage.team}`,
    );
    expect(asked).toContain('  ann: 1 file (+1 -0), not handed in');
    terminal.press('n', 'Enter');
    await terminal.see('is still there: nothing was deleted');
    rmSync(late);

    plainGit(repository, 'checkout', '-qb', branch);
    plainGit(repository, 'config', `branch.${branch}.mergeOptions`, '--squash');
    const merged = await inside(stage, repository, ['merge']);
    expect(merged.stdout, merged.stderr).toContain(`Merged ${branch} into ${branch}: 3 files`);
    plainGit(repository, 'checkout', '-q', 'main');
    plainGit(repository, 'merge', '-q', '--ff-only', branch);
    const deleted = await stage.troupe('team', 'delete', stage.team, '--yes');
    expect(deleted).toMatchObject({ code: 0, stderr: '' });
  });

  test('name the work that was never merged when its team is started over', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    expect((await up(stage, repository)).code).toBe(0);
    const again = await up(stage, repository, '--again');
    expect(again.stderr).toContain('Never merged:\n');
    expect(again.stderr).toContain('It is kept: troupe work clean lists it.');
    expect(again.code).toBe(0);
  });

  test('show what a deleted team left behind, and remove what a person names', async () => {
    const stage = newStage();
    const repository = makeProject(stage, EACH_A_LINE);
    expect((await up(stage, repository)).code).toBe(0);
    const folder = join(stage.home.directory, 'workspaces', stage.team, 'ann');
    writeFileSync(join(folder, 'later.txt'), 'not handed in\n');
    const deleted = await stage.troupe('team', 'delete', stage.team, '--yes');
    expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining('Never merged:\n') });
    const left = (await stage.ask<Leftovers>('work', 'clean')).filter(({ of }) => of.startsWith(stage.team));
    expect(left.map(({ kind, of }) => `${kind} ${of}`).sort()).toEqual([
      `branch ${stage.team}`,
      `kept ${stage.team}/ann`,
      `trash ${stage.team}/ann`,
      `trash ${stage.team}/bob`,
    ]);
    const kept = left.find(({ kind }) => kind === 'kept');
    const { stdout } = await stage.troupe('work', 'clean');
    expect(stdout).toContain(`${kept?.commit?.slice(0, 7)}  work on no branch`);
    expect(stdout).toContain('To remove some of it for good: troupe work clean ID…');
    // The command that uninstalling names makes a branch of it.
    const { unmerged } = await stage.ask<{ unmerged: string[] }>('uninstall', '--dry-run');
    const named = unmerged.find((line) => line.includes(`(work on no branch, ${stage.team}/ann)`)) ?? '';
    const [, fetch = ''] = /\. To save it: git (.*)$/.exec(named) ?? [];
    plainGit(repository, ...fetch.split(' '));
    expect(plainGit(repository, 'show', `kept/${stage.team}-ann-${kept?.commit?.slice(0, 7)}:later.txt`)).toBe(
      'not handed in',
    );
    const refused = await stage.troupe('work', 'clean', kept!.id.slice(0, 8));
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('permanently: say so with --yes') });
    const trash = left.filter(({ kind }) => kind === 'trash').map(({ id }) => id);
    expect((await stage.troupe('work', 'clean', kept!.id, ...trash, '--yes')).code).toBe(0);
    const rest = (await stage.ask<Leftovers>('work', 'clean')).filter(({ of }) => of.startsWith(stage.team));
    expect(rest.map(({ kind }) => kind)).toEqual(['branch']);
  });
});

/** Puts a program of this machine into a folder that is to be all of PATH. */
function linkProgram(name: string, folder: string): void {
  const place = (process.env['PATH'] ?? '').split(delimiter).find((one) => existsSync(join(one, name))) ?? '';
  symlinkSync(join(place, name), join(folder, name));
}
