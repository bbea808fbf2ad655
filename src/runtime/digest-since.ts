import { requireTeam } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { BATCHES_TOLD, fullDigest, gather, makeDigest } from './digest.ts';
import type { Digest } from './digest.ts';

/** What happened in a team since a batch, for its lead; without one, or if that is too long ago, the whole team. */
export async function digestSince(ledger: Ledger, teamId: string, after: number | undefined): Promise<Digest> {
  const { leadId, end } = await ledger.view(teamId, (state, seq) => ({ ...requireTeam(state), end: seq }));
  if (after === undefined || end - after > BATCHES_TOLD) return ledger.view(teamId, fullDigest);
  const happened = gather(after, leadId);
  if (after < end) for await (const batch of ledger.read(teamId, after)) happened.add(batch);
  return ledger.view(teamId, (state) => makeDigest(state, happened));
}
