import { evolve } from '../core/evolve.ts';
import { openSnapshot } from '../core/snapshot.ts';
import { createState } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Journal, Seq } from '../journal/journal.ts';

/** A state and where in the stream it stands. */
export interface Opened {
  state: TeamState;
  seq: Seq;
  replayed: number;
}

/** A team as the journal has it: from the newest snapshot where there is one, else from the first batch. */
export async function openState(journal: Journal, teamId: string): Promise<Opened> {
  return (await openFromSnapshot(journal, teamId)) ?? (await replay(journal, teamId, createState(teamId), 0));
}

/** The batch at which a snapshot was taken must be there, or the snapshot is of another stream. */
async function openFromSnapshot(journal: Journal, teamId: string): Promise<Opened | undefined> {
  const snapshot = await journal.loadSnapshot(teamId);
  const state = snapshot && openSnapshot(teamId, snapshot.body);
  if (!state) return undefined;
  for await (const batch of journal.read(teamId, snapshot.seq - 1)) {
    if (batch.seq === snapshot.seq) return replay(journal, teamId, state, snapshot.seq);
    break;
  }
  return undefined;
}

async function replay(journal: Journal, teamId: string, state: TeamState, after: Seq): Promise<Opened> {
  let seq = after;
  let replayed = 0;
  for await (const batch of journal.read(teamId, after)) {
    for (const event of batch.events) evolve(state, event);
    seq = batch.seq;
    replayed += batch.events.length;
  }
  return { state, seq, replayed };
}
