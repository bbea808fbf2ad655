import { ADMIN } from '../../src/operations/caller.ts';
import type { InputOf, OperationName, ResultOf } from '../../src/operations/index.ts';
import type { Server, ServerOptions } from './house.ts';
import { shareServer, startServer } from './start.ts';
import type { StartOptions } from './start.ts';

/** A server with two teams, and credentials of every kind for them. */
export interface Stage extends Server {
  /** The team that the credentials are for, except the stranger's. */
  readonly teamId: string;
  readonly tokens: Readonly<Record<'lead' | 'worker' | 'other' | 'reader' | 'stranger', string>>;
  /** Runs an operation as a person, without a face. */
  readonly act: <N extends OperationName>(name: N, input: InputOf<N>, as?: string) => Promise<ResultOf<N>>;
  /** The last batch of every team: equal before and after means that nothing happened. */
  ends(): Promise<Record<string, number>>;
  /** Another stage on this server with its own teams, for a test that changes them. */
  aside(): Promise<Stage>;
}

/** Team `demo` with lead, worker and other; team `away` with lead and stranger. */
export async function setStage(options: StartOptions = {}): Promise<Stage> {
  return stageOn(await startServer(options));
}

/** One stage for all tests of a `describe`. */
export function shareStage(options: ServerOptions = {}): () => Stage {
  return shareServer(options, (server) => stageOn(server));
}

/** How many stages are on a server. */
const counts = new WeakMap<Server['hub'], number>();

async function stageOn(server: Server): Promise<Stage> {
  const count = counts.get(server.hub) ?? 0;
  counts.set(server.hub, count + 1);
  const [demo, away] = count === 0 ? ['demo', 'away'] : [`demo-${count}`, `away-${count}`];
  const act: Stage['act'] = async (name, input, as) =>
    JSON.parse(
      JSON.stringify(await server.hub.call(name, { caller: ADMIN, input, as, signal: new AbortController().signal })),
    );
  for (const [teamId, members] of [
    [demo, ['worker', 'other']],
    [away, ['stranger']],
  ] as const) {
    await act('team.create', { name: teamId, leadSessionId: `session-of-${teamId}`, messagesPerMinute: 1_000_000 });
    for (const name of members) await act('member.add', { teamId, name });
  }
  const token = async (teamId: string, memberId: string, readOnly = false): Promise<string> =>
    (await act('member.token', { teamId, memberId, readOnly })).token;
  return {
    ...server,
    teamId: demo,
    act,
    tokens: {
      lead: await token(demo, 'lead'),
      worker: await token(demo, 'worker'),
      other: await token(demo, 'other'),
      reader: await token(demo, 'worker', true),
      stranger: await token(away, 'stranger'),
    },
    async ends() {
      const names = await server.ledger.teams();
      const seqs = await Promise.all(names.map((name) => server.ledger.view(name, (_, seq) => seq)));
      return Object.fromEntries(names.map((name, at) => [name, seqs[at] ?? 0]));
    },
    aside: () => stageOn(server),
  };
}

/** Counts how often a team's history was read. */
export function countReads({ ledger }: Stage): () => number {
  const read = ledger.read.bind(ledger);
  let count = 0;
  ledger.read = (...from) => {
    count++;
    return read(...from);
  };
  return () => count;
}
