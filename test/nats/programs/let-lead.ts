// Makes leaders of a stream step down until the wanted server leads. It is a separate program because it must run in
// the servers' network.
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const [url = '', stream = '', wanted] = process.argv.slice(2);
const nc = await connect({ servers: url.slice('nats://'.length).split(',') });
const jsm = await jetstream(nc, { timeout: 1_000 }).jetstreamManager(false);
for (;;) {
  const leader = await jsm.streams.info(stream).then(
    ({ cluster }) => cluster?.leader,
    () => undefined,
  );
  if (leader === wanted) break;
  // Only the leader answers, and it may have stepped down by itself just now.
  const stepDown = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
  if (leader !== undefined) await nc.request(stepDown, undefined, { timeout: 5_000 }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await nc.close();
