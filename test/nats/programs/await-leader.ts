// Waits until the servers of a cluster, given by the addresses of their monitors, have a leader. It is a separate
// program because it must run in the servers' network.
import { until } from '../../until.ts';
import { hasLeader } from '../server.ts';

const nodes = process.argv.slice(2).map((monitor) => ({ monitor }));
await until('the cluster has a leader', () => hasLeader(nodes));
