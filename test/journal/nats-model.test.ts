import { afterAll, beforeAll, describe } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { describeJournal } from '../contracts/journal.ts';
import { PATIENT } from '../nats/server.ts';
import { serveModel } from '../simulator/nats/on-loopback.ts';

/** What a real server passes, in `nats.test.ts`. */
describe('the model of three NATS servers in the simulator', () => {
  let servers: Awaited<ReturnType<typeof serveModel>>;
  let stores = 0;
  beforeAll(async () => {
    servers = await serveModel({ size: 3 });
  });
  afterAll(() => servers?.stop());

  describeJournal('nats', async () => {
    const url = `${servers.url}?prefix=store-${stores++}`;
    await setUpNatsJournal(url, { replicas: 3 });
    return () => natsJournal(url, PATIENT);
  });
});
