import type { TeamEvent } from '../../core/event.ts';
import type { TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Instruments } from '../instruments.ts';

/** Counts the landings that a daemon makes, and how long works waited. Returns a function that stops it. */
export function measureLandings(
  ledger: Ledger,
  hostId: string,
  instruments: Pick<Instruments, 'landing' | 'landed'>,
): () => void {
  return ledger.subscribe((_teamId, { events }, state) => {
    // Another machine counts its own.
    if (state.team?.work?.queueHost !== hostId) return;
    const landed = new Set<string>();
    for (const event of events) measure(event, state, landed);
    landed.forEach(() => instruments.landing('landed'));
  });

  function measure(event: TeamEvent, { tasks }: TeamState, landed: Set<string>): void {
    if (event.type === 'landing:ended') instruments.landing(event.how);
    if (event.type === 'work:asked') instruments.landing('asked');
    if (event.type === 'work:conflicted' && event.feedback !== undefined) instruments.landing('conflicted');
    if (event.type !== 'work:landed' || event.landingId === undefined) return;
    landed.add(event.landingId);
    const { queuedAt = event.at } = tasks.get(event.taskId)?.work ?? {};
    instruments.landed(Math.max(0, event.at - queuedAt) / 1000);
  }
}
