import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandOf, hookEnvironment, runProgram } from '../../../src/runtime/hooks/run-program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

const shell = (command: string) => ({
  command: ['/bin/sh', '-c', command] as const,
  cwd: temporaryFolder(),
  env: { PATH: process.env['PATH'] ?? '' },
  timeout: 60_000,
  marker: `hook-${crypto.randomUUID()}`,
});

test('a program without a payload reads nothing', async () => {
  expect(await runProgram(shell('cat; echo end'))).toMatchObject({ exitCode: 0, stdout: 'end\n' });
  expect(await runProgram({ ...shell('cat'), payload: { a: 1 } })).toMatchObject({ stdout: '{"a":1}' });
});

test.each([
  ['exit 0', { exitCode: 0, code: 0 }],
  ['exit 2', { exitCode: 2, code: 2 }],
  ['exit 3', { exitCode: 1, code: 3 }],
  ['exit 1', { exitCode: 1, code: 1 }],
])('%s', async (command, expected) => {
  expect(await runProgram(shell(command))).toMatchObject({ ...expected, timedOut: false });
});

test('a program that a signal ended has no exit code', async () => {
  const result = await runProgram(shell('kill -9 $$'));
  expect(result).toMatchObject({ exitCode: 1, timedOut: false });
  expect(result).not.toHaveProperty('code');
});

test('a program whose daemon stops is ended, while it runs and before it begins', async () => {
  const stop = new AbortController();
  let printed = (): string => '';
  const running = runProgram({
    ...shell('echo on; sleep 600'),
    signal: stop.signal,
    onStart: (text) => (printed = text),
  });
  await until('it runs', () => printed() === 'on\n');
  stop.abort();
  expect(await running).toMatchObject({ exitCode: 1, stdout: 'on\n', timedOut: false });
  expect(await runProgram({ ...shell('sleep 600'), signal: stop.signal })).toMatchObject({
    exitCode: 1,
    timedOut: false,
  });
});

test('a program that leaves behind what we cannot find has a verdict, and none of its pipes stays open', async () => {
  const open = (): number => readdirSync('/dev/fd').length;
  const before = open();
  const program = shell(
    `env -i setsid sh -c 'echo $$ > pid; exec sleep 600' & while ! test -s pid; do sleep 0.02; done`,
  );
  expect(await runProgram(program)).toMatchObject({ exitCode: 0, timedOut: false });
  const left = Number(readFileSync(join(program.cwd, 'pid'), 'utf8'));
  onTestFinished(() => void process.kill(left, 'SIGKILL'));
  await until('its pipes are closed', () => open() <= before);
});

test('how long it took is known', async () => {
  const began = performance.now();
  const { duration } = await runProgram(shell('true'));
  expect(Math.round(performance.now() - began)).toBeGreaterThanOrEqual(duration);
});

test('a program that does not exist has failed, and is named', async () => {
  const result = await runProgram({ ...shell(''), command: ['/no/such/program'] });
  expect(result).toMatchObject({ exitCode: 1, stdout: '', timedOut: false });
  expect(result.stderr).toMatch(/^Cannot run \/no\/such\/program: .*ENOENT/);
});

test('of its output escape sequences and control characters are gone; lines and tabs stay', async () => {
  const { stdout } = await runProgram(shell(String.raw`printf 'a\033[31mb\033[0m\a\tc\r\nd'`));
  expect(stdout).toBe('ab\tc\nd');
});

test('it gets what programs need, what it asks for, and the ids under both names', () => {
  const ours = { PATH: '/bin', LC_ALL: 'C', AWS_KEY: 'x', OTHER: 'y', HOME: undefined };
  expect(hookEnvironment(ours, { TASK_ID: '7' }, ['AWS_KEY'])).toStrictEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    AWS_KEY: 'x',
    TROUPE_TASK_ID: '7',
    WUNDR_TASK_ID: '7',
  });
  expect(hookEnvironment({ OTHER: 'y' }, {})).toEqual({});
});

test('a command is for the shell, or the path of a module', () => {
  expect(commandOf({ executor: 'shell', command: 'a b' })).toEqual(['/bin/sh', '-c', 'a b']);
  expect(commandOf({ executor: 'node', command: 'a b' })).toEqual([
    process.execPath,
    expect.stringMatching(/module-runner\.[jt]s$/),
    'a b',
  ]);
});
