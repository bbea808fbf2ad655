import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { SessionManager } from '../../src/runtime/sessions.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { openLedger } from '../ledger/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The sessions of a new ledger, which never start a process. */
export function openIdleSessions(): { ledger: Ledger; mailbox: Mailbox; sessions: SessionManager } {
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
  return { ledger, mailbox, sessions: new SessionManager(ledger, mailbox, supervisor) };
}
