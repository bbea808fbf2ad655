import { expect, onTestFinished, test } from 'vitest';
import type { HostCard } from '../../src/journal/hosts.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';

/** Longer than any test takes: a card lasts, though nobody renews it. */
const [LONG_MS, SHORTER_MS] = [3_600_000, 1_800_000];

test('a daemon that never follows a shorter lease is named, kept alive, and the lease stays', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  const { url } = servers;
  await setUpNatsJournal(url, { leaseMs: LONG_MS });
  const journal = await natsJournal(url, PATIENT);
  onTestFinished(() => journal.close());
  const { hosts } = journal;

  // As a daemon does that knows of no change: it says no lease.
  const old: HostCard = { name: 'old', labels: [], agents: [], load: 0, home: 'h', version: '0.0.1' };
  await hosts.announce(old);
  const waited: (readonly string[])[] = [];
  const change = { leaseMs: SHORTER_MS, followMs: 500, onWait: (names: readonly string[]) => void waited.push(names) };
  await expect(setUpNatsJournal(url, change)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^The lease stays 3600 s: old did not follow, .* Stop those daemons, or give them/),
  });
  expect(waited).toEqual([['old']]);
  // Those that were told of a shorter one go back, and the one that did not follow was never over.
  expect(await hosts.readLease()).toBe(LONG_MS);
  expect(await hosts.list()).toMatchObject([{ name: 'old' }]);

  await hosts.leave('old');
  expect(await setUpNatsJournal(url, { leaseMs: SHORTER_MS })).toMatchObject({ leaseMs: SHORTER_MS });
  expect(await hosts.readLease()).toBe(SHORTER_MS);
});
