import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { scenario } from './model/runs.ts';
import { runScenario } from './model/scenario.ts';
import { TEAM } from './model/world.ts';

/** `TROUPE_MODEL_RUNS=2000 npx vitest run test/ledger/model-nats.test.ts` runs more. */
const RUNS = Number(process.env['TROUPE_MODEL_RUNS'] ?? 20);

describe.each([
  { size: 1, replicas: 1, runs: RUNS },
  { size: 3, replicas: 3, runs: Math.ceil(RUNS / 4) },
] as const)('on $size server(s)', NEEDS_NATS, ({ size, replicas, runs }) => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats({ size });
    await setUpNatsJournal(servers.url, { replicas });
  });
  afterAll(() => servers?.stop());

  test(`the ledger does what a naive model does, in ${runs} runs`, async () => {
    const journal = await natsJournal(servers.url);
    try {
      await fc.assert(
        fc.asyncProperty(scenario, async (drawn) => {
          await journal.drop(TEAM);
          await runScenario(journal, drawn);
        }),
        { numRuns: runs },
      );
    } finally {
      await journal.close();
    }
  });
});
