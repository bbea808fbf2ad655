import { expect, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { until } from '../until.ts';
import { openIdleSessions } from './idle-sessions.ts';

test("a session's work ends with its result, or with the session", async () => {
  const { ledger, mailbox, sessions } = await setStage();
  const session = { teamId: 'demo', memberId: 'ann' };
  const { signal } = new AbortController();
  const said = sessions.executeInSession(session, 'Say hello', signal);
  await until('it has mail', async () => (await mailbox.getInbox('demo', 'ann')).length === 1);
  const idle = { type: 'member.change', by: 'ann', memberId: 'ann', status: 'idle', result: 'hello' } as const;
  await ledger.execute('demo', idle, () => undefined);
  expect(await said).toBe('hello');
  const left = sessions.executeInSession(session, 'Say it again', signal);
  const leave = { type: 'member.leave', by: USER, memberId: 'ann', reason: 'it had enough', returning: false } as const;
  await ledger.execute('demo', leave, () => undefined);
  await expect(left).rejects.toMatchObject({
    code: 'member_stopped',
    message: 'ann stopped before it was done: it had enough',
  });
  await expect(sessions.executeInSession(session, 'Hello?', signal)).rejects.toMatchObject({ code: 'member_stopped' });
});

async function setStage() {
  const { ledger, mailbox, sessions } = openIdleSessions();
  const team = CreateTeamInput.parse({ name: 'demo' });
  const ann = JoinInput.parse({ name: 'ann', status: 'active' });
  await ledger.execute('demo', { type: 'team.create', by: USER, ...team }, () => undefined);
  await ledger.execute('demo', { type: 'member.join', by: USER, ...ann }, () => undefined);
  return { ledger, mailbox, sessions };
}
