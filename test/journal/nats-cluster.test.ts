import { afterAll, beforeAll, describe } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { describeJournal } from '../contracts/journal.ts';
import { hasNats, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';

describe.skipIf(!hasNats)('on three servers', { timeout: 60_000 }, () => {
  let servers: NatsServers;
  let sweeper: Journal;
  beforeAll(async () => {
    servers = await startNats({ size: 3 });
    await setUpNatsJournal(servers.url, { replicas: 3 });
    sweeper = await natsJournal(servers.url);
  }, 60_000);
  afterAll(async () => {
    await sweeper?.close();
    await servers?.stop();
  });

  // One journal for all: making one takes the servers half a second.
  describeJournal('nats, three replicas', async () => {
    await Promise.all((await sweeper.teams()).map((team) => sweeper.drop(team)));
    return () => natsJournal(servers.url);
  });
});
