import { jetstream as connectJetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { natsJournal } from '../src/journal/nats.ts';
import { setUpNatsJournal } from '../src/journal/nats/setup.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import { openAdmin } from '../test/nats/admin.ts';
import { ask, startNats } from '../test/nats/server.ts';
import type { NatsServers } from '../test/nats/server.ts';
import { isInstalled } from '../test/tools.ts';
import type { Benchmark, Scale, Target } from './benchmark.ts';
import { round } from './benchmark.ts';
import { interleave, keepInFlight, median, quantile, time } from './rounds.ts';
import { makeTeam, readTeam, teamCommands, WORKERS } from './team.ts';

const APPENDS = 'bare appends to one stream of the same servers, one in flight';

/** Claims and completions on NATS JetStream, on one server and on three. */
export const jetstream: Benchmark = {
  name: 'jetstream',
  unit: 'claims + completions/s',
  about: 'claim and complete on NATS, 1, 8 and 64 teams, 1 and 3 servers; two daemons on one team; the leader killed',
  target: '3 times bare appends with 8 in flight; writable 10 s after the leader was killed; none lost, none double',
  async run(scale) {
    if (!isInstalled('nats-server')) throw new Error('nats-server is not installed');
    const one = await measure(scale, { size: 1, replicas: 1 });
    const three = await measure(scale, { size: 3, replicas: 3 });
    const targets: Target[] = [
      { what: 'one server, 8 in flight, times the limit', value: one.ratios.eight, atLeast: 3 },
      { what: 'three servers, 8 in flight, times the limit', value: three.ratios.eight, atLeast: 3 },
      { what: 'seconds from killing the leader to the next claim', value: three.writableAfter, atMost: 10 },
    ];
    return {
      value: three.persec.eight,
      limit: APPENDS,
      limitValue: three.limit,
      ratio: three.ratios.eight,
      peers: [],
      targets,
      more: { oneServer: one, threeServers: three, teams: await growth(scale) },
    };
  },
};

async function measure(scale: Scale, { size, replicas }: { size: 1 | 3; replicas: number }) {
  const servers = await startNats({ size });
  const journals: Awaited<ReturnType<typeof natsJournal>>[] = [];
  let teams = 0;
  const waits: Record<string, number[]> = { one: [], eight: [], teams8: [], teams64: [], daemons: [] };
  try {
    await setUpNatsJournal(servers.url, { replicas });
    journals.push(await natsJournal(servers.url), await natsJournal(servers.url));
    const bare = await openBare(servers, replicas);

    /** Makes teams whose tasks the ledgers claim and complete in turn; returns operations per second. */
    const work = async (
      name: string,
      { count, tasks, inFlight, daemons = 1 }: { count: number; tasks: number; inFlight: number; daemons?: number },
    ): Promise<number> => {
      const ledgers = journals.slice(0, daemons).map((journal) => new Ledger(journal));
      const lists = ledgers.map((ledger) => new SharedTaskList(ledger));
      const names = Array.from({ length: count }, () => `team-${++teams}`);
      const each = scale.size(tasks);
      await Promise.all(names.map((team) => makeTeam(ledgers[0] as Ledger, team, each)));
      const ms = await time(() =>
        Promise.all(
          names.map((team) =>
            keepInFlight(inFlight, each, async (i) => {
              const list = lists[i % daemons] as SharedTaskList;
              const worker = WORKERS[i % WORKERS.length] as string;
              const start = performance.now();
              const task = await list.claimNextTask(team, worker);
              if (!task) throw new Error(`${team} had no task for claim ${i}`);
              await list.completeTask(team, task.id, worker, { epoch: task.epoch });
              waits[name]?.push((performance.now() - start) / 2);
            }),
          ),
        ),
      );
      for (const list of lists) list.close();
      for (const ledger of ledgers) await ledger.close();
      for (const team of names) await check(team, each);
      for (const team of names) await journals[0]?.drop(team);
      return (2 * count * each * 1000) / ms;
    };
    const check = async (team: string, count: number): Promise<void> => {
      const events = (await readTeam(journals[0] as (typeof journals)[0], team)).flat();
      for (const type of ['task:claimed', 'task:completed'] as const) {
        const ids = events.flatMap((event) => (event.type === type ? [event.taskId] : []));
        const isRight = new Set(ids).size === count && ids.length === count;
        if (!isRight) throw new Error(`${team}: ${ids.length} ${type}, not ${count}`);
      }
    };

    const found = await interleave(scale, () => bare.appends(scale.size(500)), {
      one: () => work('one', { count: 1, tasks: 200, inFlight: 1 }),
      eight: () => work('eight', { count: 1, tasks: 1_000, inFlight: 8 }),
      teams8: () => work('teams8', { count: 8, tasks: 150, inFlight: 8 }),
      teams64: () => work('teams64', { count: 64, tasks: 50, inFlight: 2 }),
      daemons: () => work('daemons', { count: 1, tasks: 400, inFlight: 16, daemons: 2 }),
    });
    const names = Object.keys(waits) as (keyof typeof found.parts)[];
    const pick = (of: (name: keyof typeof found.parts) => number) =>
      Object.fromEntries(names.map((name) => [name, round(of(name))])) as Record<keyof typeof found.parts, number>;
    const writableAfter = size === 3 ? await killLeader(servers, new Ledger(journals[0] as (typeof journals)[0])) : 0;
    await bare.close();
    return {
      limit: round(median(found.limit)),
      persec: pick((name) => median(found.parts[name])),
      ratios: pick((name) => median(found.ratios[name])),
      p50: pick((name) => quantile(waits[name] ?? [], 0.5)),
      p99: pick((name) => quantile(waits[name] ?? [], 0.99)),
      writableAfter: round(writableAfter),
    };
  } finally {
    await Promise.all(journals.map((journal) => journal.close()));
    await servers.stop();
  }
}

/** The simplest use of the servers: append a record after the last one, then the next. */
async function openBare({ url }: NatsServers, replicas: number) {
  const nc = await connect({ servers: url.slice('nats://'.length).split(',') });
  const js = connectJetstream(nc);
  const jsm = await js.jetstreamManager();
  await jsm.streams.add({ name: 'bare', subjects: ['bare'], num_replicas: replicas });
  const record = 'x'.repeat(160);
  let last = 0;
  return {
    async appends(count: number): Promise<number> {
      const ms = await time(async () => {
        for (let done = 0; done < count; done++) {
          last = (await js.publish('bare', record, { expect: { lastSequence: last } })).seq;
        }
      });
      return (count * 1000) / ms;
    },
    close: () => nc.close(),
  };
}

/** Seconds from killing the leader of a team's stream to the next claim that is answered. */
async function killLeader(servers: NatsServers, ledger: Ledger): Promise<number> {
  const admin = await openAdmin(servers);
  try {
    await makeTeam(ledger, 'orphaned', 2);
    const leader = await admin.leaderOf('troupe_orphaned');
    await leader.kill();
    const ms = await time(() => ledger.execute('orphaned', { type: 'task.claim', by: 'worker-1' }, () => undefined));
    return ms / 1000;
  } finally {
    await ledger.close();
    await admin.close();
  }
}

/** The cost of many teams on one server: making one, listing all, and memory. */
async function growth(scale: Scale) {
  const servers = await startNats();
  const journal = await natsJournal(servers.url);
  try {
    const count = scale.size(1_000);
    const ledger = new Ledger(journal);
    const node = servers.nodes[0] as NatsServers['nodes'][0];
    const memory = async () => (await ask<{ mem: number }>(node, '/varz'))?.mem ?? 0;
    const before = await memory();
    const made: number[] = [];
    for (let i = 0; i < count; i++) {
      made.push(await time(() => ledger.execute(`team-${i}`, teamCommands(`team-${i}`), () => undefined)));
    }
    await ledger.close();
    const first = await time(() => journal.teams());
    const again = await time(() => journal.teams());
    const tenth = Math.ceil(count / 10);
    return {
      count,
      msToMake: { first: round(median(made.slice(0, tenth))), last: round(median(made.slice(-tenth))) },
      msToList: { first: round(first), again: round(again) },
      serverBytesPerTeam: Math.round(((await memory()) - before) / count),
    };
  } finally {
    await journal.close();
    await servers.stop();
  }
}
