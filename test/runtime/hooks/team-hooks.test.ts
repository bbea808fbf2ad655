import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { CONTEXT, setStage } from './stage.ts';

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
  });

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
