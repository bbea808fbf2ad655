import { mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { CONTEXT, setStage } from './stage.ts';

describe('many hooks', () => {
  test('F42: of 50 at once, four run at a time, and all give a verdict', async () => {
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

  test('have a process record while they run', async () => {
    const stage = await setStage();
    await stage.judge({ command: `ls ${stage.processes} > listed` });
    expect(stage.read('listed')).toMatch(/^hook-[0-9a-f-]+\.json\n$/);
    expect(readdirSync(stage.processes)).toEqual([]);
  });
});

describe('the folder of a hook', () => {
  test('is the folder of the work that it judges, if the hook names none', async () => {
    const stage = await setStage();
    const work = temporaryFolder();
    const member = { name: 'elsewhere', cwd: work, agent: { kind: 'exec', command: ['true'] } } as const;
    await stage.ledger.execute('demo', { type: 'member.join', by: USER, ...JoinInput.parse(member) }, () => undefined);
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'pwd > judged' });
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'pwd > named', cwd: stage.folder });
    await stage.tasks.createTask('demo', USER, { title: 'Judged' });
    await stage.tasks.claimTask('demo', '1', 'elsewhere');
    // A person completes it, but the work is the holder's.
    await stage.tasks.completeTask('demo', '1', USER);
    expect(readFileSync(join(work, 'judged'), 'utf8')).toBe(`${realpathSync(work)}\n`);
    expect(stage.read('named')).toBe(`${realpathSync(stage.folder)}\n`);
  });

  test('is that of the team, if the member has no other', async () => {
    const stage = await setStage();
    mkdirSync(join(stage.folders, 'demo'));
    const member = { name: 'there', agent: { kind: 'exec', command: ['true'] } } as const;
    await stage.ledger.execute('demo', { type: 'member.join', by: USER, ...JoinInput.parse(member) }, () => undefined);
    await stage.hooks.registerHook('demo', { type: 'TeammateIdle', command: 'cat > payload' });
    await stage.mailbox.notifyIdle('demo', 'there');
    const folder = join(stage.folders, 'demo');
    expect(JSON.parse(readFileSync(join(folder, 'payload'), 'utf8'))).toMatchObject({ cwd: folder });
  });

  test("is the team's for a new task, which has no holder yet", async () => {
    const stage = await setStage();
    await stage.hooks.registerHook('demo', { type: 'TaskCreated', command: 'pwd > judged' });
    await stage.tasks.createTask('demo', USER, { title: 'New' });
    expect(stage.read('judged')).toBe(`${realpathSync(stage.folder)}\n`);
  });
});

describe('the hooks of a team', () => {
  test('delete a task that they reject', async () => {
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

  test('keep a teammate at work with their feedback', async () => {
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
