import { expect, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { TeamCoordinator } from '../../src/runtime/coordinator.ts';
import { openIdleSessions } from './idle-sessions.ts';

test('reports teammates that join and leave, but not the lead', async () => {
  const { ledger, mailbox, sessions } = openIdleSessions();
  const coordinator = new TeamCoordinator({ ledger, mailbox, sessions }, {});
  const told: string[] = [];
  coordinator.on('teammate:joined', ({ memberId }) => told.push(`${memberId} joined`));
  coordinator.on('teammate:stopped', ({ memberId }) => told.push(`${memberId} stopped`));
  await coordinator.createTeam('session-1', { name: 'demo' });
  const ann = JoinInput.parse({ name: 'ann', status: 'active' });
  await ledger.execute('demo', { type: 'member.join', by: USER, ...ann }, () => undefined);
  await ledger.execute('demo', { type: 'team.close', by: USER, force: true }, () => undefined);
  expect(told).toEqual(['ann joined', 'ann stopped']);
});
