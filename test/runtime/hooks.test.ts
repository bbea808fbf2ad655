import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { HookConfig } from '../../src/core/hook.ts';
import type { HookResult } from '../../src/core/hook.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { hashHook, openApprovals } from '../../src/runtime/hooks/approvals.ts';
import { TeamHooks } from '../../src/runtime/hooks/team-hooks.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { until } from '../daemon/processes.ts';
import { openLedger } from '../ledger/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const CONTEXT = {
  teamId: 'demo',
  taskId: '1',
  taskTitle: 'Judged',
  completedBy: 'worker',
  memberName: 'worker',
  duration: 12,
  dependentTaskIds: ['2', '3'],
};

describe('a verdict', () => {
  test.each([
    ['exit 0', 'exit 0', 0, 0],
    ['exit 1', 'echo broken >&2; exit 1', 1, 2],
    ['exit 2', 'echo do it again >&2; exit 2', 2, 2],
    ['exit 137', 'exit 137', 1, 2],
    ['a signal', 'kill -SEGV $$', 1, 2],
    ['not found', './no-such-hook', 1, 2],
    ['not executable', './plain.txt', 1, 2],
  ])('F41: %s: allows or not as the table says', async (_what, command, allowing, blocking) => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'plain.txt'), 'exit 0');
    expect((await stage.judge({ command, onFailure: 'allow' })).exitCode).toBe(allowing);
    expect((await stage.judge({ command, onFailure: 'block' })).exitCode).toBe(blocking);
  });

  test('says why: standard error, then standard output', async () => {
    const stage = await setStage();
    await stage.task();
    await stage.register({ command: 'echo from stdout; exit 2' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toMatchObject({
      code: 'gate_rejected',
      message: 'from stdout',
    });
    await stage.register({ command: 'echo after it; echo from stderr >&2; exit 2' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toThrow('from stdout');
    expect(await stage.hooks.removeHook('demo', 'TaskCompleted')).toBe(true);
    expect(await stage.hooks.removeHook('demo', 'TaskCompleted')).toBe(false);
    await stage.register({ command: 'echo after it; echo from stderr >&2; exit 2' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toThrow('from stderr\n\nafter it');
    expect(await stage.tasks.getTask('demo', '1')).toMatchObject({ status: 'in_progress', rejections: 3 });
    const last = 'echo after it; echo from stderr >&2; exit 2';
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 2, command: last });
  });

  test('that a failure gives has the end of both outputs: most tools report on standard output', async () => {
    const stage = await setStage();
    await stage.task();
    const report = `for i in $(seq 3000); do echo "ok $i"; done; echo 'not ok 3001 - slugify' ; echo Error >&2; exit 1`;
    await stage.register({ command: report, onFailure: 'block' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toThrow('The gate failed');
    const feedback = (await stage.tasks.getTask('demo', '1'))?.feedback ?? '';
    expect(feedback).toMatch(/^The gate failed, and it blocks when it fails\.\nError\n\n…/);
    expect(feedback).toMatch(/ok 3000\nnot ok 3001 - slugify$/);
    expect(feedback.length).toBeLessThan(10_100);
  });

  test('of a hook in a folder that is gone is a failure of the hook', async () => {
    const stage = await setStage();
    const hook = { command: 'true', cwd: join(stage.folder, 'gone'), approved: 'x' };
    expect(await stage.judge({ ...hook, onFailure: 'allow' })).toMatchObject({ exitCode: 1 });
    expect(await stage.judge({ ...hook, onFailure: 'block' })).toMatchObject({ exitCode: 2 });
  });

  test('of a disabled hook is not asked for', async () => {
    const stage = await setStage();
    expect(await stage.judge({ command: 'exit 2', enabled: false })).toMatchObject({ exitCode: 0 });
  });
});

describe('time and output', () => {
  test.each([
    ['hangs', 'sleep 1004'],
    ['ignores SIGTERM', `trap '' TERM; while :; do sleep 1; done`],
  ])('F38: a hook that %s is ended within its time and 6 s', async (_what, command) => {
    const stage = await setStage();
    const result = await stage.judge({ command, timeout: 200, onFailure: 'block' });
    expect(result).toMatchObject({ exitCode: 2, timedOut: true });
    expect(result.stderr).toContain('did not answer within 200 ms');
    expect(result.duration).toBeLessThan(6_200);
    expect(stage.left()).toEqual([]);
  });

  test('F39: a child in a session of its own that keeps the pipe holds up no verdict and does not stay', async () => {
    const stage = await setStage();
    const result = await stage.judge({ command: 'setsid sleep 1005 & echo $! > pid; exit 0', timeout: 5_000 });
    expect(result).toMatchObject({ exitCode: 0, timedOut: false });
    expect(result.duration).toBeLessThan(6_000);
    expect(stage.left()).toEqual([]);
  });

  test('F40: of 100 MB the beginning and the end are kept, without escape sequences', async () => {
    const stage = await setStage();
    const command = `printf '\\033[31mhead\\033[0m\\a'; head -c 100000000 /dev/zero | tr '\\0' x; printf tail; exit 2`;
    const { stdout, exitCode } = await stage.judge({ command, timeout: 60_000 });
    expect(exitCode).toBe(2);
    expect(stdout.length).toBeLessThan(140_000);
    expect(stdout).toMatch(/^headxxx/);
    expect(stdout).toMatch(/xxxtail$/);
    expect(stdout).toMatch(/\[\d+ bytes left out\]/);
  }, 90_000);
});

describe('what a hook is told', () => {
  test('the payload under the names that Claude Code uses, and the variables of old and new', async () => {
    const stage = await setStage();
    await stage.task('Judged', 'in detail');
    await stage.judge({ command: 'cat > payload; env > environment' });
    expect(JSON.parse(stage.read('payload'))).toMatchObject({
      hook_event_name: 'TaskCompleted',
      task_id: '1',
      task_subject: 'Judged',
      task_description: 'in detail',
      teammate_name: 'worker',
      team_name: 'demo',
      context: CONTEXT,
    });
    const environment = stage.read('environment').split('\n');
    for (const prefix of ['WUNDR', 'TROUPE']) {
      expect(environment).toEqual(
        expect.arrayContaining([
          `${prefix}_TEAM_ID=demo`,
          `${prefix}_TASK_ID=1`,
          `${prefix}_COMPLETED_BY=worker`,
          `${prefix}_MEMBER_NAME=worker`,
          `${prefix}_TASK_DURATION=12`,
          `${prefix}_DEPENDENT_TASKS=2,3`,
        ]),
      );
    }
  });

  test('an idle teammate: what it completed and what remains', async () => {
    const stage = await setStage();
    await stage.hooks.registerHook('demo', { type: 'TeammateIdle', command: 'env > environment', cwd: stage.folder });
    await stage.hooks.executeTeammateIdleHook({
      teamId: 'demo',
      memberId: 'worker',
      memberName: 'worker',
      completedTaskIds: ['1', '2'],
      remainingTasks: 4,
      idleSince: new Date(),
    });
    expect(stage.read('environment').split('\n')).toEqual(
      expect.arrayContaining(['WUNDR_MEMBER_ID=worker', 'WUNDR_COMPLETED_TASKS=1,2', 'WUNDR_REMAINING_TASKS=4']),
    );
  });

  test('nothing of our environment but what programs need, and what it asks for by name', async () => {
    const stage = await setStage({ ANTHROPIC_API_KEY: 'secret', WANTED: 'yes', NODE_OPTIONS: '--no-such-flag' });
    await stage.judge({ command: 'env > environment', env: ['WANTED'] });
    const names = stage
      .read('environment')
      .split('\n')
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    expect(names).toContain('WANTED');
    expect(names).toContain('PATH');
    expect(names).not.toContain('ANTHROPIC_API_KEY');
    expect(names).not.toContain('NODE_OPTIONS');
    expect(names).not.toContain('TROUPE_TEST_RUN');
  });

  test.each([
    '$(touch canary)',
    '`touch canary`',
    '"; touch canary; "',
    "'; touch canary; '",
    '| touch canary',
    '; touch canary #',
    '${IFS}touch${IFS}canary',
  ])('F37: the title %j only as data', async (title) => {
    const stage = await setStage();
    await stage.task(title);
    await stage.register({ command: 'cat > payload; eval "true $TROUPE_TASK_ID $TROUPE_MEMBER_NAME $WUNDR_TEAM_ID"' });
    await stage.tasks.completeTask('demo', '1', 'worker');
    expect(existsSync(join(stage.folder, 'canary'))).toBe(false);
    expect(JSON.parse(stage.read('payload'))).toMatchObject({ task_subject: title });
  });
});

describe('executors', () => {
  test('a node module gets the payload; what it returns is the verdict', async () => {
    const stage = await setStage();
    writeFileSync(
      join(stage.folder, 'gate.mjs'),
      `export default async ({ context }) => (context.taskId === '1' ? { reject: 'not ' + context.taskTitle } : undefined);`,
    );
    writeFileSync(join(stage.folder, 'throws.mjs'), `export default () => { throw new Error('broken'); };`);
    writeFileSync(join(stage.folder, 'empty.mjs'), `export const nothing = 1;`);
    const module = (command: string) => stage.judge({ command, executor: 'node' });
    expect(await module('gate.mjs')).toMatchObject({ exitCode: 2, stderr: 'not Judged' });
    expect(await module('throws.mjs')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('broken') });
    expect(await module('empty.mjs')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no default export'),
    });
  });

  test('functions run in this process, before programs; one that throws has failed', async () => {
    const stage = await setStage();
    const seen: unknown[] = [];
    stage.hooks.registerFunction('demo', 'TaskCompleted', (context) => {
      seen.push(context);
      return undefined;
    });
    await stage.register({ command: 'exit 0' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0 });
    expect(seen).toEqual([CONTEXT]);
    stage.hooks.registerFunction('demo', 'TaskCompleted', () => {
      throw new Error('broken');
    });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0 });
    stage.hooks.registerFunction('demo', 'TaskCompleted', () => ({ reject: 'no' }));
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 2, stderr: 'no' });
    expect(await stage.hooks.removeHook('demo', 'TaskCompleted')).toBe(true);
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0 });
  });

  test('F38: a function that never answers has failed when its time is up', async () => {
    const stage = await setStage();
    const never = (): Promise<undefined> => new Promise(() => {});
    stage.hooks.registerFunction('demo', 'TaskCompleted', never, { timeout: 20 });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 1, timedOut: true });
    stage.hooks.registerFunction('demo', 'TaskCompleted', never, { timeout: 20, onFailure: 'block' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did not answer within 20 ms, and it blocks') as string,
    });
  });

  test('a hook is listed as it was registered', async () => {
    const stage = await setStage();
    await stage.register({ command: './gate.sh', timeout: 10_000, onFailure: 'block' });
    expect(await stage.hooks.getRegisteredHooks('demo')).toEqual([
      {
        type: 'TaskCompleted',
        command: './gate.sh',
        executor: 'shell',
        cwd: stage.folder,
        timeout: 10_000,
        enabled: true,
        onFailure: 'block',
      },
    ]);
  });
});

describe('a gate that cannot run', () => {
  test.each<[string, { command: string; executor?: 'node' }, RegExp]>([
    [
      'is missing',
      { command: './gone.sh --strict' },
      /"\.\/gone\.sh --strict" cannot be run: \.\/gone\.sh is not there: put it into/,
    ],
    ['may not be executed', { command: './plain.txt' }, /chmod \+x \/.*\/plain\.txt/],
    ['is a script that is missing', { command: 'sh gone.sh' }, /gone\.sh is not there/],
    ['is a module that is missing', { command: 'gone.js', executor: 'node' }, /gone\.js is not there/],
    ['is found missing by the shell', { command: 'cd . && ./gone.sh' }, /the shell says .*gone\.sh: .*[nN]o/],
    ['is a folder', { command: './folder' }, /\.\/folder is no file/],
  ])('because it %s is put before a person at once, and no try is counted', async (_what, hook, why) => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'plain.txt'), 'exit 0');
    mkdirSync(join(stage.folder, 'folder'));
    await stage.task();
    await stage.register({ ...hook, onFailure: 'block' });
    for (const result of ['my work', 'my work, once more']) {
      await expect(stage.tasks.completeTask('demo', '1', 'worker', { result })).rejects.toMatchObject({
        code: 'gate_rejected',
        message: expect.stringMatching(/A person was asked; there is nothing to change in the work$/),
      });
    }
    expect(await stage.tasks.getTask('demo', '1')).toMatchObject({ status: 'in_progress', rejections: 0 });
    const asked = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
    expect(asked).toMatchObject([
      { kind: 'gate', memberId: 'worker', taskId: '1', status: 'pending', content: expect.stringMatching(why) },
    ]);
    expect(asked[0]?.content).toContain('A yes completes the task without the gate.');
  });

  test('because it changed since it was approved is put before a person, with how to approve it again', async () => {
    const stage = await setStage();
    await stage.task();
    await stage.register({ command: 'true', approved: 'another content', onFailure: 'block' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toMatchObject({ code: 'gate_rejected' });
    const [asked] = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
    expect(asked?.content).toContain(`then troupe up in ${stage.folder} asks for your yes again`);
    expect(await stage.tasks.getTask('demo', '1')).toMatchObject({ rejections: 0 });
  });

  test('is told from one whose own tools are missing, which the work may bring', async () => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'gate.sh'), '#!/bin/sh\nno-such-tool\n');
    chmodSync(join(stage.folder, 'gate.sh'), 0o755);
    const result = await stage.judge({ command: './gate.sh', onFailure: 'block' });
    expect(result).toMatchObject({ exitCode: 2, code: 127, stderr: expect.stringContaining('The gate failed') });
    expect(result.unable).toBeUndefined();
  });

  test('keeps nobody at work', async () => {
    const stage = await setStage();
    const hook = { type: 'TeammateIdle', cwd: stage.folder, onFailure: 'block' } as const;
    await stage.hooks.registerHook('demo', { ...hook, command: './gone.sh' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(true);
  });
});

describe('approval', () => {
  test('is by content: a script that changed does not run until it is approved again', async () => {
    const stage = await setStage();
    const script = join(stage.folder, 'gate.sh');
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    chmodSync(script, 0o755);
    const approved = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    const hook = { command: './gate.sh', approved, onFailure: 'block' as const };
    expect(stage.hooks.unapproved([stage.config(hook)])).toMatchObject([{ hash: approved, changed: false }]);
    stage.hooks.approve([stage.config(hook)]);
    expect(stage.hooks.unapproved([stage.config(hook)])).toEqual([]);
    expect(await stage.judge(hook)).toMatchObject({ exitCode: 0 });
    writeFileSync(script, '#!/bin/sh\ntouch canary\nexit 0\n');
    expect(await stage.judge(hook)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('changed since it was approved'),
    });
    expect(existsSync(join(stage.folder, 'canary'))).toBe(false);
    const now = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    expect(stage.hooks.unapproved([stage.config({ ...hook, approved: now })])).toMatchObject([
      { hash: now, folder: stage.folder, files: [script], changed: true },
    ]);
    stage.hooks.approve([stage.config({ ...hook, approved: now })]);
    expect(await stage.judge(hook)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(stage.folder, 'canary'))).toBe(true);
  });

  test('differs for another command, another folder, another content', () => {
    const [one, other] = [temporaryFolder(), temporaryFolder()];
    for (const folder of [one, other]) writeFileSync(join(folder, 'gate.js'), 'one');
    const hash = (command: string, folder: string, more: object = {}): string =>
      hashHook({ command, executor: 'shell', ...more }, folder);
    const hashes = [hash('node gate.js', one), hash('node gate.js --x', one), hash('node gate.js', other)];
    writeFileSync(join(one, 'gate.js'), 'two');
    hashes.push(hash('node gate.js', one), hash('node gate.js', one, { env: ['AWS_SECRET'] }));
    hashes.push(hash('node gate.js', one, { executor: 'node' }));
    expect(new Set(hashes).size).toBe(6);
  });

  test.each([
    ['a script in a folder that the command goes to', 'cd checks && ./gate.sh', 'checks/gate.sh'],
    ['what a script names beside itself', './run.sh', 'beside.sh'],
    ['a module that a module imports', 'node gate.js', 'lib/rules.mjs'],
    ['a module that a Python program imports', 'python3 gate.py', 'rules.py'],
    ['the scripts of a package', 'npm test', 'package.json'],
    ['the rules of make', 'make check', 'Makefile'],
    ['the configuration that the command names', 'lint --config=strict.json src', 'strict.json'],
  ])('F43: is void when %s changes', (_what, command, file) => {
    const folder = checkout();
    const before = hashHook({ command, executor: 'shell' }, folder);
    writeFileSync(join(folder, file), '{"scripts":{"test":"true"}}');
    expect(hashHook({ command, executor: 'shell' }, folder)).not.toBe(before);
  });

  test.each([
    ['./run.sh', 'src/work.js'],
    ['node gate.js', 'src/work.js'],
    ['npm test', 'src/work.js'],
    ['./run.sh > report.txt', 'report.txt'],
  ])('of %s stays when the work that it judges changes: %s', (command, file) => {
    const folder = checkout();
    const before = hashHook({ command, executor: 'shell' }, folder);
    writeFileSync(join(folder, file), 'changed');
    expect(hashHook({ command, executor: 'shell' }, folder)).toBe(before);
  });

  test('F43: a script that is rewritten while it runs gives no verdict', async () => {
    const stage = await setStage();
    const script = join(stage.folder, 'gate.sh');
    writeFileSync(script, '#!/bin/sh\ntouch running\nwhile ! test -e go; do sleep 0.02; done\nexit 2\n');
    chmodSync(script, 0o755);
    const approved = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    const verdict = stage.judge({ command: './gate.sh', approved, onFailure: 'block' });
    await until('it runs', () => existsSync(join(stage.folder, 'running')));
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    writeFileSync(join(stage.folder, 'go'), '');
    expect(await verdict).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('changed while it ran') });
  });

  test('variables that would run code in every program are not for hooks', () => {
    for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'BASH_ENV', 'PYTHONSTARTUP']) {
      expect(() => HookConfig.parse({ type: 'TaskCompleted', command: 'true', env: [name] })).toThrow('would run code');
    }
  });

  /** Gates of all kinds, and the work that they judge. */
  function checkout(): string {
    const folder = temporaryFolder();
    for (const name of ['checks', 'lib', 'src']) mkdirSync(join(folder, name));
    const files = {
      'checks/gate.sh': '#!/bin/sh\nexit 0\n',
      'run.sh': '#!/bin/sh\n. "$(dirname "$0")/beside.sh"\nnode src/work.js && grep -q done report.txt\n',
      'beside.sh': 'check() { true; }\n',
      'gate.js': `import { judge } from './lib/rules.mjs';\njudge('src/work.js');\n`,
      'lib/rules.mjs': 'export const judge = () => {};\n',
      'gate.py': 'import rules\nrules.judge()\n',
      'rules.py': 'def judge(): pass\n',
      'package.json': '{"version":"1.0.0","scripts":{"test":"node --test"}}',
      Makefile: 'check:\n\ttrue\n',
      'strict.json': '{"strict":true}',
      'src/work.js': 'done',
      'report.txt': 'done',
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    chmodSync(join(folder, 'run.sh'), 0o755);
    return folder;
  }
});

describe('many', () => {
  test('F42: of 50 at once four run at a time, and all are judged', async () => {
    const stage = await setStage();
    const command = 'mkdir run-$$; ls -d run-* | wc -l >> counts; rmdir run-$$';
    await stage.register({ command });
    const results = await Promise.all(Array.from({ length: 50 }, () => stage.hooks.executeTaskCompletedHook(CONTEXT)));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map(() => 0));
    const counts = stage.read('counts').trim().split('\n').map(Number);
    expect(counts).toHaveLength(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    expect(readdirSync(stage.processes)).toEqual([]);
  }, 60_000);

  test('are on record while they run', async () => {
    const stage = await setStage();
    await stage.judge({ command: `ls ${stage.processes} > listed` });
    expect(stage.read('listed')).toMatch(/^hook-[0-9a-f-]+\.json\n$/);
    expect(readdirSync(stage.processes)).toEqual([]);
  });
});

describe('the hooks of a team', () => {
  test('take back a task that they do not want', async () => {
    const stage = await setStage();
    const command = `grep -q '"task_subject":"No' && { echo not this one >&2; exit 2; }; exit 0`;
    await stage.hooks.registerHook('demo', { type: 'TaskCreated', command, cwd: stage.folder });
    await expect(stage.tasks.createTask('demo', USER, { title: 'No way' })).rejects.toMatchObject({
      code: 'gate_rejected',
      message: 'not this one',
    });
    await stage.tasks.createTask('demo', USER, { title: 'Fine' });
    expect((await stage.tasks.listTasks('demo')).map(({ title }) => title)).toEqual(['Fine']);
  });

  test('keep a teammate at work with what they say', async () => {
    const stage = await setStage();
    const hook = { type: 'TeammateIdle', cwd: stage.folder } as const;
    await stage.hooks.registerHook('demo', { ...hook, command: 'echo Check the tests >&2; exit 2' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(false);
    const [message] = await stage.mailbox.getInbox('demo', 'worker');
    expect(message).toMatchObject({ type: 'system', content: 'Check the tests' });
    await stage.hooks.removeHook('demo', 'TeammateIdle');
    await stage.hooks.registerHook('demo', { ...hook, command: 'exit 1' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(true);
  });
});

type Registration = Parameters<TeamHooks['registerHook']>[1];

/** A team `demo` with a `worker`, and hooks in a folder of their own. */
async function setStage(environment: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const processes = temporaryFolder();
  const ledger = openLedger(memoryJournal());
  const hooks = new TeamHooks(ledger, {
    approvals: openApprovals(join(temporaryFolder(), 'approvals.json')),
    records: openProcessRecords(processes),
    environment: { PATH: process.env['PATH'], ...environment },
    cwd: folder,
  });
  const tasks = new SharedTaskList(ledger, { gate: hooks });
  const mailbox = new Mailbox(ledger, { gate: hooks });
  onTestFinished(() => {
    tasks.close();
    mailbox.close();
  });
  await ledger.execute(
    'demo',
    [
      { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: 'demo' }) },
      { type: 'member.join', by: USER, ...JoinInput.parse({ name: 'worker' }) },
    ],
    () => undefined,
  );
  const complete = (hook: Partial<Registration>): Registration => ({
    type: 'TaskCompleted',
    command: 'true',
    cwd: folder,
    ...hook,
  });
  const register = (hook: Partial<Registration>): Promise<void> => hooks.registerHook('demo', complete(hook));
  return {
    folder,
    processes,
    ledger,
    hooks,
    tasks,
    mailbox,
    register,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    config: (hook: Partial<Registration>) => HookConfig.parse(complete(hook)),
    /** Runs one hook on a completion. */
    async judge(hook: Partial<Registration>): Promise<HookResult> {
      await hooks.removeHook('demo', 'TaskCompleted');
      await register(hook);
      return hooks.executeTaskCompletedHook(CONTEXT);
    },
    /** Task 1, held by the worker. */
    async task(title = 'Judged', description = ''): Promise<void> {
      await tasks.createTask('demo', USER, { title, description });
      await tasks.claimTask('demo', '1', 'worker');
    },
    /** Programs that still run in the folder of the hooks. */
    left: () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
        } catch {
          return false;
        }
      }),
  };
}
