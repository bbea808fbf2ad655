import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { describeJournal } from '../contracts/journal.ts';
import { scenario } from '../ledger/model/runs.ts';
import { runScenario } from '../ledger/model/scenario.ts';
import { TEAM } from '../ledger/model/world.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { rounds } from '../proof.ts';

const MODEL_RUNS = rounds(6, 2_000);

describe('on one server', NEEDS_NATS, () => {
  let servers: NatsServers;
  let stores = 0;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  describeJournal('nats', () => {
    const url = `${servers.url}?prefix=store-${stores++}`;
    return () => natsJournal(url, PATIENT);
  });

  test(`the ledger matches a simple model in ${MODEL_RUNS} runs`, async () => {
    const journal = await natsJournal(`${servers.url}?prefix=model`, PATIENT);
    try {
      await fc.assert(
        fc.asyncProperty(scenario, async (drawn) => {
          await journal.drop(TEAM);
          await runScenario(journal, drawn);
        }),
        { numRuns: MODEL_RUNS },
      );
    } finally {
      await journal.close();
    }
  });
});
