import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { describeJournal } from '../contracts/journal.ts';
import { note } from '../contracts/journal/notes.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';

describe('on three servers', NEEDS_NATS, () => {
  let servers: NatsServers;
  let sweeper: Journal;
  beforeAll(async () => {
    servers = await startNats({ size: 3 });
    await setUpNatsJournal(servers.url, { replicas: 3 });
    sweeper = await natsJournal(servers.url);
  });
  afterAll(async () => {
    await sweeper?.close();
    await servers?.stop();
  });

  test('what is not named when a journal is changed stays', async () => {
    const url = `${servers.url}?prefix=kept`;
    await setUpNatsJournal(url, { replicas: 3, maxBytes: 1_000_000 });
    const journal = await natsJournal(url);
    await journal.append('a', 0, [note('1')]);
    const before = { replicas: 3, maxBytes: 1_000_000, leaseMs: 30_000 };
    const shorter = { ...before, leaseMs: 15_000 };
    expect(await setUpNatsJournal(url, { leaseMs: 15_000 })).toEqual({
      ...shorter,
      before,
      created: false,
      changed: 0,
    });
    expect(await journal.hosts.readLease()).toBe(15_000);
    const fewer = await setUpNatsJournal(url, { replicas: 1 });
    expect(fewer).toEqual({ ...shorter, replicas: 1, before: shorter, created: false, changed: 1 });
    await journal.drop('a');
    await journal.close();
  });

  // One journal for all: making one takes the servers half a second.
  describeJournal('nats, three replicas', async () => {
    await Promise.all((await sweeper.teams()).map((team) => sweeper.drop(team)));
    return () => natsJournal(servers.url);
  });
});
