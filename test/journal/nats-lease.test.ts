import { expect, onTestFinished, test } from 'vitest';
import type { HostCard } from '../../src/journal/hosts.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';

/** Both are longer than any test takes, so that a host card does not expire without renewal. */
const [LONG_MS, SHORTER_MS] = [3_600_000, 1_800_000];

test('a change to a shorter lease fails and names the daemon that does not follow', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  const { url } = servers;
  await setUpNatsJournal(url, { leaseMs: LONG_MS });
  const journal = await natsJournal(url, PATIENT);
  onTestFinished(() => journal.close());
  const { hosts } = journal;

  // Like a daemon that does not know lease changes: its card has no lease.
  const old: HostCard = { name: 'old', labels: [], agents: [], load: 0, home: 'h', version: '0.0.1' };
  await hosts.announce(old);
  const waited: (readonly string[])[] = [];
  const change = { leaseMs: SHORTER_MS, followMs: 500, onWait: (names: readonly string[]) => void waited.push(names) };
  await expect(setUpNatsJournal(url, change)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^The lease stays 3600 s: old did not adopt it, .* Stop those daemons, or update/),
  });
  expect(waited).toEqual([['old']]);
  // Daemons that followed go back to the old lease. The lease of the one that did not follow never expired.
  expect(await hosts.readLease()).toBe(LONG_MS);
  expect(await hosts.list()).toMatchObject([{ name: 'old' }]);

  await hosts.leave('old');
  expect(await setUpNatsJournal(url, { leaseMs: SHORTER_MS })).toMatchObject({ leaseMs: SHORTER_MS });
  expect(await hosts.readLease()).toBe(SHORTER_MS);
});
