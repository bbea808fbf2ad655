import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { rounds, tell } from '../../proof.ts';
import { HANG_MS } from '../../until.ts';
import { CONTEXT, setStage } from './stage.ts';

/** What is in use in this process, in bytes: the least of several collections, as a buffer may outlive the first. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    collect();
    await setImmediate();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}

describe('a verdict', () => {
  test.each([
    ['exit 0', 'exit 0', 0, 0],
    ['exit 1', 'echo broken >&2; exit 1', 1, 2],
    ['exit 2', 'echo do it again >&2; exit 2', 2, 2],
    ['exit 137', 'exit 137', 1, 2],
    ['a signal', 'kill -SEGV $$', 1, 2],
    ['not found', './no-such-hook', 1, 2],
    ['not executable', './plain.txt', 1, 2],
  ])('F41: %s: allows or rejects as in the table', async (_what, command, allowing, blocking) => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'plain.txt'), 'exit 0');
    expect((await stage.judge({ command, onFailure: 'allow' })).exitCode).toBe(allowing);
    expect((await stage.judge({ command, onFailure: 'block' })).exitCode).toBe(blocking);
  });

  test('gives the reason: standard error, then standard output', async () => {
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

  test('of a failure has the end of both outputs, because most tools report on standard output', async () => {
    const stage = await setStage();
    await stage.task();
    const report = `for i in $(seq 3000); do echo "ok $i"; done; echo 'not ok 3001 - slugify' ; echo Error >&2; exit 1`;
    await stage.register({ command: report, onFailure: 'block' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toThrow('ended with exit code 1');
    const feedback = (await stage.tasks.getTask('demo', '1'))?.feedback ?? '';
    expect(feedback).toMatch(/^`for i in [^\n]{71}…` ended with exit code 1:\nError\n\n…/);
    expect(feedback).toMatch(/ok 3000\nnot ok 3001 - slugify$/);
    expect(feedback.length).toBeLessThan(10_200);
  });

  test.each([
    ['exit 1', '`exit 1` ended with exit code 1'],
    ['echo no; exit 7', '`echo no; exit 7` ended with exit code 7:\n\nno'],
    ['kill -SEGV $$', '`kill -SEGV $$` failed'],
  ])('of a failure begins with the command and how it ended: %s', async (command, feedback) => {
    const stage = await setStage();
    await stage.task();
    await stage.register({ command, onFailure: 'block' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toMatchObject({ message: feedback });
  });

  test('of a hook in a missing folder is a failure of the hook', async () => {
    const stage = await setStage();
    const hook = { command: 'true', cwd: join(stage.folder, 'gone') };
    expect(await stage.judge({ ...hook, onFailure: 'allow' })).toMatchObject({ exitCode: 1 });
    expect(await stage.judge({ ...hook, onFailure: 'block' })).toMatchObject({ exitCode: 2 });
    expect(await stage.judge({ ...hook, onFailure: 'allow', approved: 'x' })).toMatchObject({ exitCode: 2 });
  });

  test('of a disabled hook is not asked for', async () => {
    const stage = await setStage();
    expect(await stage.judge({ command: 'exit 2', enabled: false })).toMatchObject({ exitCode: 0 });
  });
});

describe('timeout and output', () => {
  test.each([
    ['hangs', 'sleep 1004'],
    ['ignores SIGTERM', `trap '' TERM; while :; do sleep 1; done`],
  ])('F38: a hook that %s is killed at its timeout', async (_what, command) => {
    const stage = await setStage();
    const askedAt = performance.now();
    const result = await stage.judge({ command, timeout: 200, onFailure: 'block' });
    tell({ overshootMs: [Math.round(performance.now() - askedAt - 200)] });
    expect(result).toMatchObject({ exitCode: 2, timedOut: true });
    expect(result.stderr).toContain('did not answer within 200 ms');
    expect(stage.left()).toEqual([]);
  });

  test('F39: a child in its own session that keeps the pipe open does not delay the verdict, and is killed', async () => {
    const stage = await setStage();
    const result = await stage.judge({ command: 'setsid sleep 1005 & echo $! > pid; exit 0', timeout: HANG_MS });
    expect(result).toMatchObject({ exitCode: 0, timedOut: false });
    expect(stage.left()).toEqual([]);
  });

  test('F40: of 100 MB output only the beginning and the end are kept, without escape sequences', async () => {
    const stage = await setStage();
    const command = `printf '\\033[31mhead\\033[0m\\a'; head -c 100000000 /dev/zero | tr '\\0' x; printf tail; exit 2`;
    const peakBefore = process.resourceUsage().maxRSS;
    const before = await heldBytes();
    const times = rounds(1, 10);
    for (let round = 0; round < times; round++) {
      const { stdout, exitCode } = await stage.judge({ command, timeout: HANG_MS });
      expect(exitCode).toBe(2);
      expect(stdout.length).toBeLessThan(4_500_000);
      expect(stdout).toMatch(/^headxxx/);
      expect(stdout).toMatch(/xxxtail$/);
      expect(stdout).toMatch(/\[\d+ bytes left out\]/);
    }
    const heldKb = Math.round(((await heldBytes()) - before) / 1024);
    // More would be output that somebody holds. The peak is what Node reads from a pipe before it collects.
    expect(heldKb).toBeLessThan(8 * 1024);
    tell({ printed: times, heldKb: [Math.max(0, heldKb)], peakKb: [process.resourceUsage().maxRSS - peakBefore] });
  });
});
