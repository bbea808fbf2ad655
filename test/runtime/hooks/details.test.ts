// What no other test noticed when it was changed: found by mutants of these files (proof/mutations/).
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSandbox } from '../../../src/agents/sandbox/able.ts';
import type { HookResult } from '../../../src/core/hook.ts';
import { hashHook, hashSetup, nameChanged, nameFiles, openApprovals } from '../../../src/runtime/hooks/approvals.ts';
import { filesNamed } from '../../../src/runtime/hooks/hook-files.ts';
import { describeBroken, findObstacle, whyNotRun } from '../../../src/runtime/hooks/obstacle.ts';
import { runFunction } from '../../../src/runtime/hooks/run-function.ts';
import { runProgram } from '../../../src/runtime/hooks/run-program.ts';
import { ALLOWED, applyPolicy } from '../../../src/runtime/hooks/verdict.ts';
import { withSandbox } from '../../../src/runtime/hooks/with-sandbox.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { needs } from '../../tools.ts';
import { CONTEXT, setStage } from './stage.ts';

describe('approvals', () => {
  test('are of one hook in one folder: another folder, or another hook, was never approved', () => {
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    const file = join(folder, 'gate.sh');
    writeFileSync(file, 'one');
    const approvals = openApprovals(join(temporaryFolder(), 'approvals.json'));
    expect([approvals.has('h'), approvals.knew('a', folder), approvals.changed('a', folder, [file])]).toEqual([
      false,
      false,
      [],
    ]);
    approvals.add('h', 'a', folder, [file]);
    expect([approvals.has('h'), approvals.has('i')]).toEqual([true, false]);
    expect([approvals.knew('a', folder), approvals.knew('a', other), approvals.knew('b', folder)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(approvals.changed('a', folder, [file])).toEqual([]);
    writeFileSync(file, 'two');
    expect(approvals.changed('a', folder, [file])).toEqual([file]);
    expect([approvals.changed('a', other, [file]), approvals.changed('b', folder, [file])]).toEqual([[], []]);
    approvals.add('i', 'a', folder);
    expect(approvals.changed('a', folder, [file])).toEqual([file]);
    rmSync(file);
    expect(approvals.changed('a', folder, [file])).toEqual([file]);
  });

  test('are compared with the latest, and never taken for none if they cannot be read', () => {
    const [folder, path] = [temporaryFolder(), join(temporaryFolder(), 'approvals.json')];
    const file = join(folder, 'gate.sh');
    const approvals = openApprovals(path);
    for (const [hash, content, at] of [
      ['h', 'one', '2026-01-02'],
      ['i', 'two', '2026-01-01'],
    ] as const) {
      writeFileSync(file, content);
      approvals.add(hash, 'a', folder, [file]);
      const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
      writeFileSync(path, JSON.stringify({ ...kept, [hash]: { ...kept[hash], at } }));
    }
    expect(approvals.changed('a', folder, [file])).toEqual([file]);
    writeFileSync(file, 'one');
    expect(approvals.changed('a', folder, [file])).toEqual([]);
    writeFileSync(path, 'not ours');
    expect(() => approvals.has('h')).toThrow(SyntaxError);
    expect(() => approvals.add('h', 'a')).toThrow(SyntaxError);
  });
});

describe('a failure that blocks', () => {
  const failed = (more: Partial<HookResult>): HookResult => ({ ...ALLOWED, exitCode: 1, ...more });
  const said = (command: string, result: Partial<HookResult>): string =>
    applyPolicy({ command, timeout: 50, onFailure: 'block' }, failed(result)).stderr;

  test('says which gate, how it ended, and what it printed', () => {
    expect(said('  lint  ', { code: 3 })).toBe('`lint` ended with exit code 3');
    expect(said('lint', { code: 3, stdout: ' \n', stderr: ' \n' })).toBe('`lint` ended with exit code 3');
    expect(said('lint', { code: 3, stderr: 'bad \n' })).toBe('`lint` ended with exit code 3:\nbad');
    expect(said('lint', { code: 3, stdout: 'bad' })).toBe('`lint` ended with exit code 3:');
    expect(said('lint\ntest', {})).toBe('`lint…` failed');
    expect(said('x'.repeat(80), { timedOut: true })).toBe(`\`${'x'.repeat(80)}\` did not answer within 50 ms`);
    expect(said('x'.repeat(81), {})).toBe(`\`${'x'.repeat(80)}…\` failed`);
    expect(said(' ', {})).toBe('The gate failed');
  });

  test('is none if the hook allows it, or did not fail', () => {
    expect(applyPolicy({ timeout: 50, onFailure: 'allow' }, failed({ stderr: 'x' }))).toMatchObject({
      exitCode: 1,
      stderr: 'x',
    });
    expect(applyPolicy({ timeout: 50, onFailure: 'block' }, ALLOWED)).toBe(ALLOWED);
  });
});

describe('an obstacle', () => {
  test('is found in a command with space around it, and says what to change', () => {
    const folder = temporaryFolder();
    const hook = { command: ' ./gate.sh ', executor: 'shell' } as const;
    expect(findObstacle(hook, folder)).toBe(`./gate.sh does not exist: put it into ${folder}`);
    expect(findObstacle({ ...hook, approved: 'h' }, folder)).toMatch(/, or change the hook and run troupe up$/);
    writeFileSync(join(folder, 'gate.sh'), '');
    expect(findObstacle(hook, folder)).toMatch(/^\.\/gate\.sh is not executable: chmod \+x /);
    expect(findObstacle({ ...hook, executor: 'node' }, folder)).toBeUndefined();
    expect(findObstacle({ ...hook, command: 'true' }, join(folder, 'no'))).toMatch(/no does not exist$/);
  });

  test('is a sandbox that cannot be made, of a hook that is to run in one', () => {
    const folder = temporaryFolder();
    const hook = { command: 'true', executor: 'shell' } as const;
    const { PATH: path = '' } = process.env;
    try {
      process.env['PATH'] = folder;
      expect(findObstacle({ ...hook, sandbox: true }, folder)).toMatch(
        /^there is no sandbox here: .* is not on the PATH; /,
      );
      for (const sandbox of [false, undefined]) expect(findObstacle({ ...hook, sandbox }, folder)).toBeUndefined();
    } finally {
      process.env['PATH'] = path;
    }
  });

  test('is said of hooks and setups', () => {
    const broken = { command: 'x', why: 'it is gone' };
    expect(describeBroken({ ...broken, type: 'setup' })).toBe('the setup "x" cannot be run: it is gone');
    expect(describeBroken({ ...broken, type: 'TaskCreated' })).toBe(
      'the TaskCreated hook "x" cannot be run: it is gone',
    );
  });

  test('is what our own shell says with its exit codes, nothing else', () => {
    const stderr = '/bin/sh: 1: lint: not found';
    expect(whyNotRun({ ...ALLOWED, code: 127, stderr })).toBe('the shell reports: lint: not found');
    expect(whyNotRun({ ...ALLOWED, code: 126, stderr })).toBeDefined();
    expect(whyNotRun({ ...ALLOWED, code: 1, stderr })).toBeUndefined();
    expect(whyNotRun({ ...ALLOWED, code: 127, stderr: 'sh: lint: not found' })).toBeUndefined();
    expect(whyNotRun({ ...ALLOWED, code: 127, stderr: `/bin/sh: ${'x'.repeat(600)}: not found` })).toBe(
      `the shell reports: ${'x'.repeat(500)}`,
    );
  });
});

describe('the files of an approval', () => {
  test('decide about a setup, with its command, its variables, its folder and its sandbox', () => {
    const [folder, other, elsewhere] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    for (const one of [folder, other]) writeFileSync(join(one, 'setup.sh'), 'one');
    writeFileSync(join(elsewhere, 'setup.sh'), 'two');
    const setup = { command: 'sh setup.sh' };
    const hash = hashSetup(setup, folder);
    expect(hashSetup(setup, other, folder)).toBe(hash);
    expect(hashSetup({ ...setup, env: [], sandbox: false }, folder)).toBe(hash);
    const differ = [
      hashSetup(setup, elsewhere, folder),
      hashSetup(setup, other),
      hashSetup({ command: 'sh setup.sh --all' }, folder),
      hashSetup({ ...setup, env: ['TOKEN'] }, folder),
      hashSetup({ ...setup, sandbox: true }, folder),
      hashSetup({ ...setup, sandbox: { network: ['a.example'] } }, folder),
      hashHook({ ...setup, executor: 'shell' }, folder),
      hashHook({ ...setup, executor: 'shell', sandbox: true }, folder),
    ];
    expect(new Set([hash, ...differ]).size).toBe(1 + differ.length);
  });

  test('are named if they differ between a workspace and the approved folder', () => {
    const [approvedIn, cwd] = [temporaryFolder(), temporaryFolder()];
    const write = (folder: string, files: Readonly<Record<string, string>>): void => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    };
    const machine = join(temporaryFolder(), 'tool');
    const named = (names: string[]): string =>
      nameChanged((folder) => filesNamed(names, [folder]), { cwd, approvedIn });
    write(approvedIn, { same: 'a', changed: 'a', gone: 'a' });
    write(cwd, { same: 'a', changed: 'b', added: 'b' });
    expect(named(['same', 'changed', 'gone', 'added'])).toBe(' (changed, added, gone)');
    expect(named(['same'])).toBe('');
    // The approved folder is on another machine, or there is nothing to compare.
    expect(named(['added'])).toBe('');
    expect(nameChanged(() => expect.unreachable(), { cwd, approvedIn: cwd })).toBe('');
    expect(nameFiles([join(cwd, 'a'), machine], cwd)).toBe(` (a, ${machine})`);
    expect(nameFiles([], cwd)).toBe('');
  });
});

test('a function that says nothing allows; it was in time', async () => {
  const judge = { timeout: 60_000, onFailure: 'block' } as const;
  expect(await runFunction({ ...judge, run: () => undefined }, CONTEXT)).toMatchObject({
    exitCode: 0,
    timedOut: false,
  });
  const rejected = await runFunction({ ...judge, run: () => ({ reject: 'no' }) }, CONTEXT);
  expect(rejected).toMatchObject({ exitCode: 2, stderr: 'no', timedOut: false });
  const began = performance.now();
  const { duration } = await runFunction({ ...judge, run: () => undefined }, CONTEXT);
  expect(performance.now() - began).toBeGreaterThanOrEqual(duration);
});

test('all functions of a kind are asked', async () => {
  const stage = await setStage();
  const asked: number[] = [];
  for (const number of [1, 2]) stage.hooks.registerFunction('demo', 'TaskCompleted', () => void asked.push(number));
  await stage.hooks.executeTaskCompletedHook(CONTEXT);
  expect(asked).toEqual([1, 2]);
});

test('of much output the beginning and the end are kept, and how much is left out', async () => {
  const keep = 2 * 1024 * 1024;
  const run = (bytes: number): Promise<HookResult> =>
    runProgram({
      command: ['/bin/sh', '-c', `printf a; head -c ${bytes - 2} /dev/zero | tr '\\0' x; printf z`],
      cwd: temporaryFolder(),
      env: { PATH: process.env['PATH'] ?? '' },
      timeout: 60_000,
      marker: `hook-${crypto.randomUUID()}`,
    });
  const { stdout: whole } = await run(2 * keep);
  expect([whole.length, whole.includes('left out')]).toEqual([2 * keep, false]);
  const { stdout: cut } = await run(3 * keep);
  const [, left = ''] = /\n\[(\d+) bytes left out\]\n/.exec(cut) ?? [];
  expect(Number(left)).toBeGreaterThan(0);
  expect(cut.length - `\n[${left} bytes left out]\n`.length + Number(left)).toBe(3 * keep);
  expect([cut.startsWith('ax'), cut.endsWith('xz')]).toEqual([true, true]);
});

test('a sandbox needs a state directory; without a sandbox, none is needed', async () => {
  const start = { command: ['true'] as const, cwd: '/', env: {} };
  const run = (): Promise<string> => Promise.resolve('ran');
  expect(await withSandbox(undefined, { ...start, command: ['true'] }, run)).toBe('ran');
  await expect(withSandbox(true, { ...start, command: ['true'] }, run)).rejects.toMatchObject({ code: 'unsupported' });
});

const able = findSandbox(process.env);

test(
  'in a sandbox, a program does not see the state directory; nothing of the sandbox is left',
  needs(able.program !== undefined, `no sandbox here: ${able.why}`),
  async () => {
    const state = temporaryFolder();
    const stage = await setStage({ TROUPE_HOME: state });
    const command = 'echo "[$TROUPE_HOME]"';
    expect(await stage.judge({ command, sandbox: true })).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    expect(readdirSync(join(state, 'box'))).toEqual([]);
    expect(await stage.judge({ command })).toMatchObject({ exitCode: 0, stdout: `[${state}]\n` });
  },
);
