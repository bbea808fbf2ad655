import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repeatAddress } from '../../src/journal/nats/address.ts';
import { recallJournal, rememberJournal, requireKept } from '../../src/runtime/last-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('the journal of the last daemon', () => {
  test('is used again, with its name and labels', () => {
    const file = join(temporaryFolder(), 'last-journal');
    const again = repeatAddress('nats://127.0.0.1:4222?prefix=mine&ca=ca.pem', '/etc/troupe');
    rememberJournal(file, {
      lasts: true,
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

  test('is not used unasked if it needs a credential, which is never stored', () => {
    const file = join(temporaryFolder(), 'last-journal');
    for (const secret of ['creds=a.creds', 'nkey=a.nk', 'cert=a.pem&key=key.pem']) {
      expect(repeatAddress(`tls://127.0.0.1:4222?${secret}`, '/etc/troupe')).toBeUndefined();
    }
    rememberJournal(file, { lasts: true, location: 'tls://127.0.0.1:4222', isOwn: false });
    expect(readFileSync(file, 'utf8')).toBe('tls://127.0.0.1:4222\ncredential\n');
    expect(() => recallJournal(file)).toThrow(
      /kept its teams in tls:\/\/127\.0\.0\.1:4222, and its credential is missing/,
    );
  });

  test.each(['a\nname b', ' ends with a space ', '"quoted"'])('is found again under the path %j', (name) => {
    const folder = temporaryFolder();
    const [file, path] = [join(folder, 'last-journal'), join(folder, name)];
    writeFileSync(path, 'teams');
    rememberJournal(file, { lasts: true, location: path, isOwn: false, again: `sqlite:${path}`, labels: ['big'] });
    expect(recallJournal(file)).toEqual({ journal: `sqlite:${path}`, labels: ['big'], needsCredential: false });
  });

  test('is not started from scratch if its file is empty', () => {
    const folder = temporaryFolder();
    const [file, path] = [join(folder, 'last-journal'), join(folder, 'journal.db')];
    writeFileSync(path, '');
    const emptied = /journal\.db is empty, though the last daemon here kept its teams in it/;
    for (const isOwn of [true, false]) {
      rmSync(file, { force: true });
      requireKept(file, { path, isOwn });
      rememberJournal(file, { lasts: true, location: path, isOwn, again: `sqlite:${path}` });
      expect(() => requireKept(file, { path, isOwn })).toThrow(emptied);
      requireKept(file, { path: join(folder, 'other.db'), isOwn: false });
    }
  });

  test('is the default one if nothing is known or it was in memory', () => {
    const file = join(temporaryFolder(), 'last-journal');
    expect(recallJournal(file)).toBeUndefined();
    rememberJournal(file, { lasts: false, location: 'memory', isOwn: false });
    expect(recallJournal(file)).toBeUndefined();
    writeFileSync(file, 'sqlite:/nowhere/teams.db\n');
    expect(() => recallJournal(file)).toThrow(/sqlite:\/nowhere\/teams\.db, which no longer exists/);
    rememberJournal(file, {
      lasts: true,
      location: '/home/journal.db',
      isOwn: true,
      again: 'sqlite:/home/journal.db',
    });
    expect(recallJournal(file)).toBeUndefined();
  });
});
