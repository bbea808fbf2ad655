import { expect, onTestFinished, test } from 'vitest';
import { readNatsAddress } from '../../src/journal/nats/address.ts';
import { connectTo, orderServers } from '../../src/journal/nats/connect.ts';
import { openInTurn } from '../../src/journal/nats/link.ts';
import { pauseProcess } from '../daemon/processes.ts';
import { startProxy } from '../nats/proxy.ts';
import { freePorts, NEEDS_NATS, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { HANG_MS } from '../until.ts';

const at = ({ nodes }: NatsServers): string => `127.0.0.1:${nodes[0]?.port}`;

test('a paused server does not delay a connection to the others', NEEDS_NATS, async () => {
  const [servers, other] = [await startNats(), await startNats()];
  onTestFinished(async () => {
    process.kill(other.nodes[0]?.pid ?? 0, 'SIGCONT');
    await Promise.all([servers.stop(), other.stop()]);
  });
  await pauseProcess(other.nodes[0]?.pid ?? 0);
  const address = readNatsAddress(`nats://${at(other)},${at(servers)}`, '/');
  // The kernel accepts connections for the paused server, which stays silent. Equal servers are ordered at random, so
  // one attempt proves little.
  for (let i = 0; i < 8; i++) {
    expect(await orderServers(address, { reachMs: HANG_MS })).toEqual([at(servers), at(other)]);
  }
  const nc = await connectTo(address, await orderServers(address, { reachMs: HANG_MS }));
  expect(nc.getServer()).toBe(at(servers));
  await nc.close();
});

test('a server that sends INFO and is too slow afterwards is tried again', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  let withheld = 0;
  // Withholds the first PONG, which completes a client's handshake.
  const proxy = await startProxy(servers.nodes[0]!.port, (said) =>
    said.includes('PONG') && withheld++ === 0 ? '' : said,
  );
  const address = readNatsAddress(`nats://127.0.0.1:${proxy.port}`, '/');
  // The later attempts have this long as well, so it is not much less than the journal's own 10 s.
  const nc = await connectTo(address, address.servers, { connectMs: 5_000 });
  expect(withheld).toBeGreaterThan(1);
  await nc.close();
});

test('a server without quorum is left for another', NEEDS_NATS, async () => {
  const [own = 0, ...gone] = await freePorts(3);
  const routes = gone.map((port) => `nats://127.0.0.1:${port}`);
  // Configured as one of three servers, without the other two: it accepts clients, but its JetStream has no quorum.
  const config = `cluster { name: test, listen: "127.0.0.1:${own}", routes: ${JSON.stringify(routes)} }`;
  const [parted, servers] = await Promise.all([startNats({ config }), startNats()]);
  onTestFinished(async () => void (await Promise.all([servers.stop(), parted.stop()])));
  const address = readNatsAddress(`nats://${at(parted)},${at(servers)}`, '/');
  const { signal: closing } = new AbortController();
  const options = { patienceMs: 20_000, jetstreamMs: 2_500, closing };
  const [link] = await Promise.all([
    openInTurn(address, [at(parted), at(servers)], options),
    expect(openInTurn(address, [at(parted)], options)).rejects.toMatchObject({ code: 'storage' }),
  ]);
  expect(link.nc.getServer()).toBe(at(servers));
  await link.nc.close();
});
