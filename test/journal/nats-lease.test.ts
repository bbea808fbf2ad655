import { expect, onTestFinished, test } from 'vitest';
import type { HostCard } from '../../src/journal/hosts.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import { until } from '../until.ts';

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

test('a card that comes late does not replace that of the daemon that took the name', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  const { url } = servers;
  await setUpNatsJournal(url, { leaseMs: 1_000 });
  const [first, second] = await Promise.all([natsJournal(url, PATIENT), natsJournal(url, PATIENT)]);
  onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => undefined));
  const card = (instance: string): HostCard => ({
    name: 'twin',
    labels: [],
    agents: [],
    load: 0,
    home: 'h',
    instance,
    version: '1',
    leaseMs: LONG_MS,
  });
  const names = async () => (await second.hosts.list()).map(({ instance }) => instance);

  await first.hosts.announce(card('first'));
  await until('its lease is over', async () => (await names()).length === 0);
  // It may return while nobody has its name.
  await first.hosts.announce(card('first'));
  await until('its lease is over again', async () => (await names()).length === 0);
  await setUpNatsJournal(url, { leaseMs: LONG_MS });
  await second.hosts.announce(card('second'));
  await expect(first.hosts.announce(card('first'))).rejects.toMatchObject({
    code: 'exists',
    message: expect.stringContaining('has the name twin') as string,
  });
  await first.hosts.leave('twin');
  expect(await names()).toEqual(['second']);

  // A new daemon of the same state directory replaces the card of a killed one.
  await first.hosts.announce(card('third'), { replaces: card('second') });
  expect(await names()).toEqual(['third']);
  await first.hosts.leave('twin');
  expect(await names()).toEqual([]);
});
