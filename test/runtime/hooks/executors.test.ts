import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONTEXT, setStage } from './stage.ts';

describe('executors', () => {
  test('a node module gets the payload and returns the verdict', async () => {
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

  test.each(['null', `'yes'`, '{}'])('a node module that returns %s rejects nothing', async (answer) => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'gate.mjs'), `export default () => ${answer};`);
    expect(await stage.judge({ command: 'gate.mjs', executor: 'node' })).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('functions run in this process, before programs; one that throws counts as failed', async () => {
    const stage = await setStage();
    const seen: unknown[] = [];
    stage.hooks.registerFunction('demo', 'TaskCompleted', (context) => {
      seen.push(context);
      return undefined;
    });
    await stage.register({ command: 'exit 0' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0, accepted: true });
    expect(seen).toEqual([CONTEXT]);
    stage.hooks.registerFunction('demo', 'TaskCompleted', () => {
      throw new Error('broken');
    });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0 });
    stage.hooks.registerFunction('demo', 'TaskCompleted', () => ({ reject: 'no' }));
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 2, stderr: 'no' });
    expect(await stage.hooks.removeHook('demo', 'TaskCompleted')).toBe(true);
    // Nothing judged it.
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0, accepted: false });
    await stage.register({ command: 'exit 3' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 1, accepted: false });
    await stage.register({ command: 'exit 0' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 0, accepted: true });
  });

  test('a function that rejects with another thing than an error has failed with its text', async () => {
    const stage = await setStage();
    const broken = AbortSignal.abort('broken');
    stage.hooks.registerFunction('demo', 'TaskCompleted', () => {
      broken.throwIfAborted();
      return undefined;
    });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 1, stderr: 'broken' });
  });

  test('F38: a function that never answers fails at its timeout', async () => {
    const stage = await setStage();
    const never = (): Promise<undefined> => new Promise(() => {});
    stage.hooks.registerFunction('demo', 'TaskCompleted', never, { timeout: 20 });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({ exitCode: 1, timedOut: true });
    stage.hooks.registerFunction('demo', 'TaskCompleted', never, { timeout: 20, onFailure: 'block' });
    expect(await stage.hooks.executeTaskCompletedHook(CONTEXT)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did not answer within 20 ms') as string,
    });
  });

  test('a hook is listed in the form in which it was registered', async () => {
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
