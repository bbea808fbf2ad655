import { TeamError } from '../core/errors.ts';
import { nounOf } from '../core/event.ts';
import type { EventNoun, TeamEvent } from '../core/event.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How often a waiting caller gets a progress message. */
const PROGRESS_MS = 10_000;

/** How to wait. */
export interface Waiting {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly progress?: ((message: string) => void) | undefined;
  /** Whether to try again after this event; by default after every change of the team. */
  readonly matters?: (event: TeamEvent) => boolean;
}

/**
 * Tries until there is a result, the time is up, or the caller is gone. It tries again after events that matter, of the
 * team or, without one, of any team; it does not poll. With 64 calls waiting for mail in an inbox of 5,000, a try after
 * each commit made every commit take 73 ms instead of 2.
 */
export async function waitFor<R>(
  ledger: Ledger,
  teamId: string | undefined,
  attempt: () => Promise<R | undefined>,
  options: Waiting,
): Promise<R | undefined> {
  const end = performance.now() + options.ms;
  const { matters = () => true } = options;
  let changed = false;
  let heard: number | undefined;
  let wake = (): void => {};
  const stopListening = ledger.subscribe((changedTeam, { seq, events }) => {
    if (teamId !== undefined && changedTeam !== teamId) return;
    // Batches that were missed, before the first one or when the team was reopened, may have contained anything.
    const isNext = heard !== undefined && seq === heard + 1;
    heard = seq;
    if (isNext && !events.some(matters)) return;
    changed = true;
    wake();
  });
  const beat = options.progress && setInterval(() => options.progress?.('still waiting'), PROGRESS_MS);
  try {
    while (!options.signal.aborted) {
      changed = false;
      const found = await attempt();
      const left = end - performance.now();
      if (found !== undefined || left <= 0) return found;
      if (!changed && !options.signal.aborted) await wakeOrTimeout(left, options.signal, (resolve) => (wake = resolve));
    }
    // A caller that gave up must get nothing any more; one that lost its permission gets the reason.
    requireWelcome(options.signal);
    return undefined;
  } catch (error) {
    // The lost permission explains more than the failure that it caused.
    requireWelcome(options.signal);
    throw error;
  } finally {
    stopListening();
    clearInterval(beat);
  }
}

/** Whether an event may end the wait of a call for mail (`own`: only of the member it is about) or for a task. */
const MATTERS: Readonly<Record<EventNoun, { readonly inbox: boolean | 'own'; readonly claim: boolean }>> = {
  team: { inbox: true, claim: true },
  hook: { inbox: true, claim: true },
  teammate: { inbox: 'own', claim: true },
  task: { inbox: false, claim: true },
  work: { inbox: false, claim: false },
  landing: { inbox: false, claim: false },
  tip: { inbox: false, claim: false },
  message: { inbox: 'own', claim: false },
  shutdown: { inbox: true, claim: true },
  plan: { inbox: true, claim: true },
  request: { inbox: true, claim: true },
  note: { inbox: false, claim: false },
  usage: { inbox: false, claim: false },
  account: { inbox: false, claim: false },
};

/** Events that can bring mail to a member or change which is shown; requests and answers are mail too. */
export function mattersToInbox(memberId: string): (event: TeamEvent) => boolean {
  return (event) => {
    if (event.type === 'message:sent') return event.copies.some(({ toId }) => toId === memberId);
    const { inbox } = MATTERS[nounOf(event)];
    return inbox === 'own' ? 'memberId' in event && event.memberId === memberId : inbox;
  };
}

/** Events that can make a task ready for a member, or prevent a member from claiming. */
export function mattersToClaim(event: TeamEvent): boolean {
  return MATTERS[nounOf(event)].claim;
}

/** Refuses a caller that lost its permission; the abort reason of the signal is the refusal. */
export function requireWelcome({ reason }: AbortSignal): void {
  if (reason instanceof TeamError) throw reason;
}

function wakeOrTimeout(ms: number, signal: AbortSignal, setWake: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    setWake(done);
  });
}
