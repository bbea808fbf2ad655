import { expect, onTestFinished, test } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { freePorts, NEEDS_NATS, startNats } from '../nats/server.ts';

/** Opens a journal, whichever server is tried first, and says how long that took. */
async function open(url: string): Promise<number> {
  const begun = performance.now();
  const journal = await natsJournal(url);
  const took = performance.now() - begun;
  await journal.close();
  return took;
}

test('a server whose process is stopped keeps nobody from the others', NEEDS_NATS, async () => {
  const [servers, other] = [await startNats(), await startNats()];
  onTestFinished(async () => {
    process.kill(other.nodes[0]?.pid ?? 0, 'SIGCONT');
    await Promise.all([servers.stop(), other.stop()]);
  });
  process.kill(other.nodes[0]?.pid ?? 0, 'SIGSTOP');
  const address = `nats://127.0.0.1:${other.nodes[0]?.port},127.0.0.1:${servers.nodes[0]?.port}`;
  // Its system takes connections for it, and it never says a word: the library alone waits 10 s for that.
  for (let i = 0; i < 4; i++) expect(await open(address)).toBeLessThan(8_000);
});

test('a server that is parted from its cluster is left for another', NEEDS_NATS, async () => {
  const [own = 0, ...gone] = await freePorts(3);
  const routes = gone.map((port) => `nats://127.0.0.1:${port}`);
  // To who asks it, it is one of three that has lost the other two: it answers, and its JetStream knows nothing.
  const parted = await startNats({
    config: `cluster { name: test, listen: "127.0.0.1:${own}", routes: ${JSON.stringify(routes)} }`,
  });
  const servers = await startNats();
  onTestFinished(async () => void (await Promise.all([servers.stop(), parted.stop()])));
  const address = `nats://127.0.0.1:${parted.nodes[0]?.port},127.0.0.1:${servers.nodes[0]?.port}`;
  for (let i = 0; i < 3; i++) await open(address);
  await expect(open(`nats://127.0.0.1:${parted.nodes[0]?.port}`)).rejects.toMatchObject({ code: 'storage' });
});
