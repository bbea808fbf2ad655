import { isDeepStrictEqual } from 'node:util';
import { TeamError } from '../core/errors.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';

/** One team that is now in both journals. */
export interface Copied {
  readonly team: string;
  readonly batches: number;
  /** Those that were not there before. */
  readonly added: number;
}

export interface CopyOptions {
  /** Only these. */
  readonly teams?: readonly string[];
  readonly signal: AbortSignal;
  readonly onTeam: (copied: Copied) => void;
}

/**
 * Copies teams batch by batch and compares what then is in both. What is there already must be the beginning of what is to
 * be copied: so a copy that was interrupted is gone on with, and a team of the same name is never written to. Neither team
 * nor journal is changed at the source.
 */
export async function copyTeams(from: Journal, to: Journal, options: CopyOptions): Promise<Copied[]> {
  const present = await from.teams();
  const missing = options.teams?.find((team) => !present.includes(team));
  if (missing !== undefined) throw new TeamError('not_found', `There is no team ${JSON.stringify(missing)} to copy`);
  const copied: Copied[] = [];
  for (const team of options.teams ?? present) {
    const one = await copyTeam(from, to, team, options.signal);
    options.onTeam(one);
    copied.push(one);
  }
  return copied;
}

async function copyTeam(from: Journal, to: Journal, team: string, signal: AbortSignal): Promise<Copied> {
  const start = await compare(from, to, team, signal);
  let end = start;
  for await (const { seq, events } of from.read(team, start)) {
    signal.throwIfAborted();
    end = await to.append(team, seq - 1, events);
  }
  const verified = await compare(from, to, team, signal);
  if (verified < end) throw differs(team, verified + 1);
  return { team, batches: verified, added: end - start };
}

/** How many batches both have; throws if they differ in one, or if there are more at the target. */
async function compare(from: Journal, to: Journal, team: string, signal: AbortSignal): Promise<Seq> {
  const source = from.read(team, 0)[Symbol.asyncIterator]();
  let same = 0;
  for await (const batch of to.read(team, 0)) {
    signal.throwIfAborted();
    const { value } = (await source.next()) as IteratorResult<Stored, undefined>;
    const isSame = value?.seq === batch.seq && isDeepStrictEqual(value.events, batch.events);
    if (!isSame) throw differs(team, batch.seq);
    same = batch.seq;
  }
  await source.return?.();
  return same;
}

function differs(team: string, seq: Seq): TeamError {
  return new TeamError(
    'conflict',
    `Team ${JSON.stringify(team)} is another one at the target, from batch ${seq} on: drop it there first, or leave it`,
  );
}
