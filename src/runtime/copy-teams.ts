import { isDeepStrictEqual } from 'node:util';
import { TeamError } from '../core/errors.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';

/** One team that is now in both journals. */
export interface Copied {
  readonly team: string;
  readonly batches: number;
  /** The batches that were not there before. */
  readonly added: number;
}

export interface CopyOptions {
  /** Copy only these. */
  readonly teams?: readonly string[];
  readonly signal: AbortSignal;
  readonly onTeam: (copied: Copied) => void;
}

/**
 * Copies teams batch by batch, then compares both journals. What the target already has must be the beginning of the
 * source. So an interrupted copy can be resumed, and another team of the same name is never written to. The source does
 * not change.
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

/** How many batches both have. Throws if one differs, or if the target has more. */
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
    `Team ${JSON.stringify(team)} differs at the target from batch ${seq} on: delete it there first, or do not copy it`,
  );
}
