import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repeatAddress } from '../../src/journal/nats/address.ts';
import { recallJournal, rememberJournal } from '../../src/runtime/last-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('the journal of the last daemon', () => {
  test('is begun with again, under its name and labels', () => {
    const file = join(temporaryFolder(), 'last-journal');
    const again = repeatAddress('nats://127.0.0.1:4222?prefix=mine&ca=ca.pem', '/etc/troupe');
    rememberJournal(file, {
      kind: 'nats',
      location: 'nats://…',
      isOwn: false,
      again: again!,
      name: 'one',
      labels: ['gpu', 'big'],
    });
    const journal = 'nats://127.0.0.1:4222?prefix=mine&ca=%2Fetc%2Ftroupe%2Fca.pem';
    expect(recallJournal(file)).toEqual({ journal, name: 'one', labels: ['gpu', 'big'], needsCredential: false });
    expect(repeatAddress(journal, '/elsewhere')).toBe(journal);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is not begun with unasked where it takes a credential, of which nothing is kept', () => {
    const file = join(temporaryFolder(), 'last-journal');
    for (const secret of ['creds=a.creds', 'nkey=a.nk', 'cert=a.pem&key=key.pem']) {
      expect(repeatAddress(`tls://127.0.0.1:4222?${secret}`, '/etc/troupe')).toBeUndefined();
    }
    rememberJournal(file, { kind: 'nats', location: 'tls://127.0.0.1:4222', isOwn: false });
    expect(readFileSync(file, 'utf8')).toBe('tls://127.0.0.1:4222\ncredential\n');
    expect(() => recallJournal(file)).toThrow(
      /kept its teams in tls:\/\/127\.0\.0\.1:4222, and nobody gives the credential/,
    );
  });

  test('is the own one where nothing is known, and none where it was in memory', () => {
    const file = join(temporaryFolder(), 'last-journal');
    expect(recallJournal(file)).toBeUndefined();
    rememberJournal(file, { kind: 'memory', location: 'memory', isOwn: false });
    expect(recallJournal(file)).toBeUndefined();
    writeFileSync(file, 'sqlite:/nowhere/teams.db\n');
    expect(() => recallJournal(file)).toThrow(/sqlite:\/nowhere\/teams\.db, which is not there any more/);
    rememberJournal(file, {
      kind: 'sqlite',
      location: '/home/journal.db',
      isOwn: true,
      again: 'sqlite:/home/journal.db',
    });
    expect(recallJournal(file)).toBeUndefined();
  });
});
