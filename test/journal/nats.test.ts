import { afterAll, beforeAll, describe } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { describeJournal } from '../contracts/journal.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';

describe('on one server', NEEDS_NATS, () => {
  let servers: NatsServers;
  let stores = 0;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  describeJournal('nats', () => {
    const url = `${servers.url}?prefix=store-${stores++}`;
    return () => natsJournal(url);
  });
});
