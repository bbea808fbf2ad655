import { join } from 'node:path';
import type { Journal } from '../src/journal/journal.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import type { Benchmark, Scale } from './benchmark.ts';
import { round } from './benchmark.ts';
import { runThroughDaemon } from './claim-single.ts';
import { checkClaims, claimAll } from './claims.ts';
import { openWorkspace } from './disk.ts';
import { countFlushes } from './flushes.ts';
import { APPEND, appendOneByOne } from './limits.ts';
import { interleave, median, time } from './rounds.ts';
import { startSqlitePeer } from './sqlite-peer.ts';
import { makeTeam, readTeam } from './team.ts';

const PEER = 'SQLite FULL, one claim per commit, 8 processes';

/** Claims that are answered after their flush, through the ledger on SQLite. */
export const claimDurable: Benchmark = {
  name: 'claim-durable',
  unit: 'claims/s',
  about:
    'claims answered once flushed: through the ledger, 1, 8 and 128 in flight; through the daemon, 8 processes x 16',
  target:
    'ledger 0.7, 3.5 and 10 times fdatasync appends, 0.03 flushes per claim; daemon 2.5 (Unix), 2 (WebSocket), 8 x SQLite',
  async run(scale) {
    using workspace = openWorkspace();
    const { folder, disk } = workspace;
    const journal = sqliteJournal(join(folder, 'journal.db'), { exclusive: true });
    const commits: number[] = [];
    let teams = 0;

    /** Makes a team and claims all of its tasks; returns claims per second. */
    const claims = async (full: number, inFlight: number): Promise<number> => {
      const count = scale.size(full);
      const teamId = `team-${++teams}`;
      const ledger = new Ledger(journal, { exclusive: true });
      const list = new SharedTaskList(ledger);
      await makeTeam(ledger, teamId, count);
      let ids: string[] = [];
      const ms = await time(async () => (ids = await claimAll(list, teamId, count, inFlight)));
      list.close();
      await ledger.close();
      const batches = await readTeam(journal, teamId);
      checkClaims(ids, batches.flat(), count);
      if (inFlight === 128) commits.push(batches.filter(([event]) => event?.type === 'task:claimed').length / count);
      return (count * 1000) / ms;
    };

    try {
      await using peer = await startSqlitePeer(folder);
      const record = await claimRecord(journal);
      const found = await interleave(scale, () => appendOneByOne(folder, record, scale.size(1_500)), {
        one: () => claims(1_500, 1),
        eight: () => claims(6_000, 8),
        many: () => claims(10_000, 128),
        peer: () => peer.claims(scale.size(1_000)),
      });
      const flushes = flushesPerClaim(folder, scale);
      const perClaim = flushes ?? median(commits);
      const value = median(found.parts.many);
      const daemon = await runThroughDaemon(scale, 16, 8_000, { unix: 2.5, ws: 2, peer: 8 });
      return {
        value,
        limit: APPEND,
        limitValue: median(found.limit),
        ratio: median(found.ratios.many),
        peers: [{ name: PEER, value: median(found.parts.peer), ratio: value / median(found.parts.peer) }],
        targets: [
          { what: '1 in flight, times the limit', value: median(found.ratios.one), atLeast: 0.7 },
          { what: '8 in flight, times the limit', value: median(found.ratios.eight), atLeast: 3.5 },
          { what: '128 in flight, times the limit', value: median(found.ratios.many), atLeast: 10 },
          { what: 'flushes per claim, 128 in flight', value: perClaim, atMost: 0.03 },
          ...daemon.targets.map((target) => ({ ...target, what: `daemon, 8 x 16 in flight: ${target.what}` })),
        ],
        more: {
          flushesPerClaim: round(perClaim),
          flushesCountedBy: flushes === undefined ? 'commits: strace is not installed' : 'strace: fsync and fdatasync',
          commitsPerClaim: round(median(commits)),
          claimsPerSecond: {
            1: round(median(found.parts.one)),
            8: round(median(found.parts.eight)),
            128: round(value),
          },
          daemon: {
            claimsPerSecond: round(daemon.value),
            limitValue: round(daemon.limitValue),
            peers: daemon.peers,
            ...daemon.more,
          },
          recordBytes: record.length,
          disk,
        },
      };
    } finally {
      await journal.close();
    }
  },
};

/** The text that a single claim writes to the journal. */
async function claimRecord(journal: Journal): Promise<string> {
  const ledger = new Ledger(journal, { exclusive: true });
  await makeTeam(ledger, 'record', 1);
  await ledger.execute('record', { type: 'task.claim', by: 'worker-1' }, () => undefined);
  await ledger.close();
  return JSON.stringify((await readTeam(journal, 'record')).at(-1));
}

/** Counted in a separate run, because tracing slows it down. */
function flushesPerClaim(folder: string, scale: Scale): number | undefined {
  const count = scale.size(10_000);
  const script = join(import.meta.dirname, 'processes', 'claim-once.ts');
  const flushes = countFlushes(script, folder, [String(count), '128']);
  return flushes === undefined ? undefined : flushes / count;
}
