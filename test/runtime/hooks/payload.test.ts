import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { CONTEXT, setStage } from './stage.ts';

describe('the input of a hook', () => {
  test("has the payload under Claude Code's names, and the old and new variables", async () => {
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

  test('names the session of the member that completed the task; of the lead, if a person did', async () => {
    const stage = await setStage();
    const sessions = await stage.ledger.view('demo', ({ team, members }) => [
      members.get('worker')?.sessionId,
      team?.leadSessionId,
    ]);
    expect(sessions).toEqual(['session-of-worker', 'session-of-lead']);
    await stage.judge({ command: 'cat >> payloads; echo >> payloads' });
    await stage.hooks.executeTaskCompletedHook({ ...CONTEXT, completedBy: USER });
    const payloads = stage
      .read('payloads')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(payloads).toMatchObject(sessions.map((session_id) => ({ session_id })));
    expect(payloads[1]).not.toHaveProperty('teammate_name');
  });

  test('names all tasks whose work is judged together', async () => {
    const stage = await setStage();
    await stage.judge({ command: 'env > environment' });
    expect(stage.read('environment')).not.toContain('TASK_IDS');
    await stage.hooks.executeTaskCompletedHook({ ...CONTEXT, taskIds: ['1', '4'] });
    expect(stage.read('environment').split('\n')).toEqual(
      expect.arrayContaining(['TROUPE_TASK_IDS=1,4', 'TROUPE_TASK_ID=1', 'TROUPE_EVENT=TaskCompleted']),
    );
    expect(stage.read('environment')).not.toMatch(/^TROUPE_[0-9]/m);
  });

  test('has, for a new task, its number and who creates it', async () => {
    const stage = await setStage();
    const command = 'env > environment; cat > payload';
    await stage.hooks.registerHook('demo', { type: 'TaskCreated', command, cwd: stage.folder });
    await stage.tasks.createTask('demo', 'worker', { title: 'New' });
    expect(stage.read('environment').split('\n')).toEqual(
      expect.arrayContaining(['TROUPE_TASK_ID=1', 'TROUPE_CREATED_BY=worker']),
    );
    expect(JSON.parse(stage.read('payload'))).toMatchObject({ task_subject: 'New', teammate_name: 'worker' });
  });

  test('has, for an idle teammate, what it completed and what remains', async () => {
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

  test('has of our environment only what programs need and what the hook names', async () => {
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
  ])('F37: has the title %j only as data', async (title) => {
    const stage = await setStage();
    await stage.task(title);
    await stage.register({ command: 'cat > payload; eval "true $TROUPE_TASK_ID $TROUPE_MEMBER_NAME $WUNDR_TEAM_ID"' });
    await stage.tasks.completeTask('demo', '1', 'worker');
    expect(existsSync(join(stage.folder, 'canary'))).toBe(false);
    expect(JSON.parse(stage.read('payload'))).toMatchObject({ task_subject: title });
  });
});
