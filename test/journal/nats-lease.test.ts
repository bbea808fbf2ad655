import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { HostCard } from '../../src/journal/hosts.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { readNatsAddress } from '../../src/journal/nats/address.ts';
import { openLink } from '../../src/journal/nats/link.ts';
import { changeSettings } from '../../src/journal/nats/settings.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';

test('a daemon that never follows a shorter lease is named, kept alive, and the lease stays', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  await setUpNatsJournal(servers.url, { leaseMs: 3_000 });
  const journal = await natsJournal(servers.url);
  onTestFinished(() => journal.close());
  const { hosts } = journal;

  // As a daemon does that knows of no change: it says no lease, and renews itself by the one that it was started with.
  const old: HostCard = { name: 'old', labels: [], agents: [], load: 0, home: 'h', version: '0.0.1' };
  const ending = new AbortController();
  const beating = (async () => {
    while (!ending.signal.aborted) {
      await hosts.announce(old);
      await sleep(1_000, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  await expect.poll(() => hosts.list()).toHaveLength(1);

  const link = await openLink(readNatsAddress(servers.url, '/'), { patienceMs: 500, closing: ending.signal });
  onTestFinished(() => link.nc.close());
  const waited: (readonly string[])[] = [];
  await expect(
    changeSettings(link, { leaseMs: 2_000, onWait: (names) => void waited.push(names) }),
  ).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^The lease stays 3 s: old did not follow, .* Stop those daemons, or give them/),
  });
  expect(waited).toEqual([['old']]);
  // Those that were told of a shorter one go back, and the one that did not follow was never over.
  expect(await hosts.readLease()).toBe(3_000);
  expect(await hosts.list()).toMatchObject([{ name: 'old' }]);

  ending.abort();
  await beating;
  await hosts.leave('old');
  expect(await changeSettings(link, { leaseMs: 2_000 })).toMatchObject({ leaseMs: 2_000 });
  expect(await hosts.readLease()).toBe(2_000);
});
