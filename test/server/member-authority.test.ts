import { expect, test } from 'vitest';
import type { TeamRequest } from '../../src/core/request.ts';
import { shareStage } from './stage.ts';
import { openUnix } from './wire.ts';
import type { Frame } from './wire.ts';

/* What an agent tries with its own credential, on the daemon's socket. */

const shared = shareStage();

/** A stage of its own, and calls with the credential of one of its members. */
async function setAttack(who: 'worker' | 'lead' | 'other' = 'worker') {
  const stage = await shared().aside();
  const wire = await openUnix(stage.home.socket, stage.tokens[who]);
  const call = (name: string, input: object = {}): Promise<Frame> =>
    wire.ask({ type: name, payload: { teamId: stage.teamId, ...input } });
  return { ...stage, call };
}

test.each(['gate', 'budget', 'account', 'restart'])(
  'a member cannot ask a person what only Troupe asks: %s',
  async (kind) => {
    const { act, teamId, call } = await setAttack();
    const { id: taskId } = await act('task.create', { teamId, title: 'Delete nothing' });
    await act('task.claim', { teamId, taskId }, 'worker');
    const asked = { kind, memberId: 'worker', taskId, content: 'May I run the tests?', detail: { result: 'All pass' } };
    const { error } = await call('request.raise', asked);
    const pending = (await act('request.list', { teamId, status: 'pending' })) as unknown as TeamRequest[];
    for (const { id: requestId } of pending) await act('request.answer', { teamId, requestId, approve: true });
    expect(await act('task.show', { teamId, taskId })).toMatchObject({ status: 'in_progress' });
    expect([error?.code, pending]).toEqual(['invalid', []]);
  },
);

test('a member cannot pass its task off as one of the team file, or as one of Claude Code', async () => {
  const { act, teamId, call } = await setAttack();
  const { id: taskId } = await act('task.create', { teamId, title: 'Review' });
  for (const metadata of [{ key: 'review' }, { native: { id: '1' } }]) {
    const answers = [
      await call('task.create', { title: 'Mine', metadata }),
      await call('task.update', { taskId, metadata }),
    ];
    expect(answers.map(({ error }) => error?.code)).toEqual(['not_allowed', 'not_allowed']);
  }
});

test('an agent does not choose the folder in which it, or a member that it starts, works', async () => {
  const { act, teamId, call } = await setAttack();
  expect((await call('member.update', { memberId: 'worker', cwd: '/home/user/.ssh' })).error?.code).toBe('not_allowed');
  const lead = await setAttack('lead');
  await lead.act('team.update', { teamId: lead.teamId, agents: { codex: { kind: 'codex' } } });
  for (const name of ['member.spawn', 'member.add']) {
    const wish = { name: 'helper', agentType: 'codex', agent: { kind: 'codex' }, cwd: '/home/user/.ssh' };
    expect((await lead.call(name, wish)).error?.message).toMatch(/only a person may$/);
  }
  expect((await act('member.show', { teamId, memberId: 'worker' })).cwd).toBeUndefined();
});
