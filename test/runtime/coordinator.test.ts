import { expect, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { TeamCoordinator } from '../../src/runtime/coordinator.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { SessionManager } from '../../src/runtime/sessions.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { openLedger } from '../ledger/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('tells of teammates that come and go, and not of the lead as one', async () => {
  const ledger = openLedger(memoryJournal());
  const mailbox = new Mailbox(ledger);
  const supervisor = new Supervisor({
    ledger,
    mailbox,
    records: openProcessRecords(temporaryFolder()),
    hostId: 'here',
    launch: () => Promise.reject(new Error('nothing is launched')),
    onError: () => {},
  });
  const sessions = new SessionManager(ledger, mailbox, supervisor);
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
