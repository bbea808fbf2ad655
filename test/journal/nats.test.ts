import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

  test('keeps packs beside the teams, for other machines', async () => {
    const url = `${servers.url}?prefix=packs`;
    const [one, two] = [await natsJournal(url, PATIENT), await natsJournal(url, PATIENT)];
    try {
      const small = Buffer.from([0, 1, 2, 255]);
      const large = randomBytes(3_000_000);
      await two.packs.remove('alpha/');
      expect(await two.packs.get('alpha/1', { maxBytes: 10 })).toBeUndefined();
      await one.packs.put('alpha/1', small);
      await Promise.all([one.packs.put('alpha/2', large), two.packs.put('beta/1', small)]);
      await one.packs.put('alpha/1', small);
      expect(await two.packs.get('alpha/1', { maxBytes: 10 })).toEqual(small);
      expect((await two.packs.get('alpha/2', { maxBytes: 3_000_000 }))?.equals(large)).toBe(true);
      await expect(two.packs.get('alpha/2', { maxBytes: 10 })).rejects.toMatchObject({ code: 'limit' });
      await two.packs.remove('alpha/');
      for (const name of ['alpha/1', 'alpha/2']) {
        expect(await one.packs.get(name, { maxBytes: 10 })).toBeUndefined();
      }
      expect(await one.packs.get('beta/1', { maxBytes: 10 })).toEqual(small);
      await one.packs.put('alpha/1', small);
      expect(await two.packs.get('alpha/1', { maxBytes: 10 })).toEqual(small);
      expect(await one.teams()).toEqual([]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
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
