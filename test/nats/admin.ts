import { jetstream } from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { until } from '../until.ts';
import type { NatsNode, NatsServers } from './server.ts';

/** Inspects streams and disturbs their leaders, without the journal. */
export interface Admin {
  readonly nc: NatsConnection;
  readonly jsm: JetStreamManager;
  /** Waits until a stream has a leader, and returns its node. */
  leaderOf(stream: string): Promise<NatsNode>;
  /** Makes the leader of a stream step down; the servers elect another. */
  stepDown(stream: string): Promise<void>;
  /** Waits until all replicas of a stream have caught up with its leader. */
  untilCurrent(stream: string): Promise<void>;
  close(): Promise<void>;
}

export async function openAdmin({ url, nodes }: NatsServers): Promise<Admin> {
  const nc = await connect({ servers: url.slice('nats://'.length).split(','), maxReconnectAttempts: -1 });
  const jsm = await jetstream(nc, { timeout: 1_000 }).jetstreamManager(false);
  return {
    nc,
    jsm,
    leaderOf: (stream) =>
      until(`${stream} has a leader`, async () => {
        const info = await jsm.streams.info(stream).catch(() => undefined);
        return nodes.find(({ name }) => name === info?.cluster?.leader);
      }),
    async stepDown(stream) {
      // Only the leader answers, and it may have stepped down by itself just now.
      await until(`the leader of ${stream} has stepped down`, () =>
        nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, undefined, { timeout: 5_000 }).catch(() => undefined),
      );
    },
    untilCurrent: async (stream) => {
      await until(`all replicas of ${stream} are current`, async () => {
        const { cluster } = (await jsm.streams.info(stream).catch(() => undefined)) ?? {};
        const replicas = cluster?.replicas ?? [];
        return replicas.length === nodes.length - 1 && replicas.every(({ current, offline }) => current && !offline);
      });
    },
    close: () => nc.close(),
  };
}
