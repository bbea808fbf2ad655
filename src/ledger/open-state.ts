import { TeamError } from '../core/errors.ts';
import { evolve } from '../core/evolve.ts';
import { openSnapshot } from '../core/snapshot.ts';
import { createState } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq, Stored } from '../journal/journal.ts';

/** A state and its position in the stream. */
export interface Opened {
  state: TeamState;
  /** The batch that the state ends with; undefined for a team that does not exist. */
  last: Stored | undefined;
  replayed: number;
}

/** Reads a team from the journal: from the newest snapshot if there is one, else from the first batch. */
export async function openState(journal: Journal, teamId: string): Promise<Opened> {
  return (await openFromSnapshot(journal, teamId)) ?? (await replay(journal, teamId, createState(teamId)));
}

/** Applies a batch. Troupe did not write a batch that cannot be applied; the state is unusable after such a failure. */
export function applyBatch(state: TeamState, batch: Stored): void {
  try {
    for (const event of batch.events) evolve(state, event);
  } catch (error) {
    if (error instanceof TeamError) throw error;
    throw new TeamError(
      'corrupt',
      `Batch ${batch.seq} of team ${state.teamId} does not hold events of a team: restore the journal from a copy`,
      { cause: error },
    );
  }
}

async function openFromSnapshot(journal: Journal, teamId: string): Promise<Opened | undefined> {
  const snapshot = await journal.loadSnapshot(teamId);
  const state = snapshot && readSnapshot(teamId, snapshot.body);
  if (!state || !(await isOfThisStream(journal, state))) return undefined;
  const last = await batchAt(journal, teamId, snapshot.seq);
  return last && replay(journal, teamId, state, last);
}

/** The state in a snapshot; undefined if it cannot be read for any reason, because the batches are the truth. */
function readSnapshot(teamId: string, body: string): TeamState | undefined {
  try {
    return openSnapshot(teamId, body);
  } catch {
    return undefined;
  }
}

/** A team that was dropped and created again under its name has another stream, with another first batch. */
async function isOfThisStream(journal: Journal, { teamId, team }: TeamState): Promise<boolean> {
  const created = (await batchAt(journal, teamId, 1))?.events[0];
  return team?.id === teamId && created?.at === team.createdAt.getTime();
}

/** One batch, if it exists. */
export async function batchAt(journal: Journal, teamId: string, seq: Seq): Promise<Stored | undefined> {
  for await (const batch of journal.read(teamId, seq - 1)) return batch;
  return undefined;
}

async function replay(journal: Journal, teamId: string, state: TeamState, from?: Stored): Promise<Opened> {
  let last = from;
  let replayed = 0;
  for await (const batch of journal.read(teamId, from?.seq ?? 0)) {
    applyBatch(state, batch);
    last = batch;
    replayed += batch.events.length;
  }
  return { state, last, replayed };
}
