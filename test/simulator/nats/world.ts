import { inflateRawSync } from 'node:zlib';
import type { TeamEvent } from '../../../src/core/event.ts';
import { ENCODING } from '../../../src/journal/nats/batch.ts';
import { encodeTeam, namesOf } from '../../../src/journal/nats/names.ts';
import { setUpNatsJournal } from '../../../src/journal/nats/setup.ts';
import type { Network } from '../network.ts';
import { newOwner, scheduler } from '../scheduler.ts';
import { nats } from '../stand-ins/nats.ts';
import type { OnStored } from '../store.ts';
import { headerOf } from './protocol.ts';
import { SimulatedNats } from './servers.ts';

const PORTS = [4222, 4223, 4224];

/** Where the daemons of all machines find the servers. */
export const NATS_URL = `nats://${PORTS.map((port) => `127.0.0.1:${port}`).join(',')}`;

const LEASE_MS = 6_000;

/** Starts three servers; a person makes a journal on them. */
export function startServers({
  version,
  network,
  team,
  onStored,
}: {
  version: string;
  network: Network;
  team: string;
  onStored: OnStored;
}): SimulatedNats {
  const stream = namesOf('troupe').stream(encodeTeam(team));
  const servers = new SimulatedNats(
    {
      now: () => scheduler.now,
      plan: (ms, work) => void scheduler.plan(ms, work, nats.owner),
      random: () => scheduler.random('nats').next(),
    },
    {
      size: PORTS.length,
      version,
      ports: PORTS,
      onStored(name, { seq, headers, data }) {
        if (name !== stream) return;
        const text = headerOf(headers, ENCODING) === undefined ? data : inflateRawSync(data);
        onStored(team, { seq, events: JSON.parse(text.toString()) as TeamEvent[] });
      },
    },
  );
  nats.reset(servers, network);
  const setUp = (): void => void setUpNatsJournal(NATS_URL, { replicas: PORTS.length, leaseMs: LEASE_MS });
  scheduler.plan(1, setUp, newOwner('setup', 'outside'));
  return servers;
}
