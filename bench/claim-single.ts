import { BARE, startBarePeer } from './bare-peer.ts';
import type { Benchmark } from './benchmark.ts';
import { checkClaims } from './claims.ts';
import { makeDaemonTeam, readDaemonTeam, startClaimers, startDaemon } from './daemon.ts';
import type { Transport } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { APPEND, appendOneByOne } from './limits.ts';
import { interleave, median } from './rounds.ts';
import { startSqlitePeer } from './sqlite-peer.ts';

/** About what a claim writes: its event as a JSON line. */
const RECORD = JSON.stringify([
  {
    type: 'task:claimed',
    at: Date.now(),
    by: 'worker-1',
    cause: crypto.randomUUID(),
    taskId: '1234',
    memberId: 'worker-1',
    epoch: 1,
  },
]);

/** Claims through the daemon, one in flight per process. */
export const claimSingle: Benchmark = {
  name: 'claim-single',
  unit: 'claims/s',
  about: 'claims through the daemon: 8 client processes, warmed up, with 1 in flight each',
  target: 'on the Unix socket at least 0.7, on WebSocket 0.5 times fdatasync appends one by one',
  run: (scale) => runThroughDaemon(scale, 1, 3_000, { unix: 0.7, ws: 0.5 }),
};

/** Lets eight client processes claim through the daemon, on both transports, beside the limit and SQLite. */
export async function runThroughDaemon(
  scale: Parameters<Benchmark['run']>[0],
  inFlight: number,
  full: number,
  atLeast: { unix: number; ws: number; peer?: number },
): ReturnType<Benchmark['run']> {
  using workspace = openWorkspace();
  const { folder, disk } = workspace;
  await using daemon = await startDaemon(folder);
  await using unix = await startClaimers(daemon, 'unix', scale);
  await using ws = await startClaimers(daemon, 'ws', scale);
  await using peer = await startSqlitePeer(folder);
  await using bare = await startBarePeer(folder);
  const claimers = { unix, ws };
  let teams = 0;
  const claims = async (transport: Transport): Promise<number> => {
    const count = scale.size(full);
    const teamId = `team-${++teams}`;
    await makeDaemonTeam(daemon, teamId, count);
    const { ids, ms } = await claimers[transport].claim(teamId, inFlight);
    checkClaims(ids, await readDaemonTeam(daemon, teamId), count);
    return (count * 1000) / ms;
  };
  const found = await interleave(scale, () => appendOneByOne(folder, RECORD, scale.size(1_500)), {
    unix: () => claims('unix'),
    ws: () => claims('ws'),
    peer: () => peer.claims(scale.size(1_000)),
    bare: () => bare.answers(scale.size(full), inFlight),
  });
  const value = median(found.parts.unix);
  const overPeer = value / median(found.parts.peer);
  return {
    value,
    limit: APPEND,
    limitValue: median(found.limit),
    ratio: median(found.ratios.unix),
    peers: [
      { name: 'SQLite FULL, one claim per commit, 8 processes', value: median(found.parts.peer), ratio: overPeer },
      { name: BARE, value: median(found.parts.bare), ratio: value / median(found.parts.bare) },
    ],
    targets: [
      { what: 'Unix socket, times the limit', value: median(found.ratios.unix), atLeast: atLeast.unix },
      { what: 'WebSocket, times the limit', value: median(found.ratios.ws), atLeast: atLeast.ws },
      ...(atLeast.peer === undefined
        ? []
        : [{ what: 'Unix socket, times SQLite', value: overPeer, atLeast: atLeast.peer }]),
    ],
    more: { webSocket: median(found.parts.ws), disk },
  };
}
