import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How often a caller who waits is told so. */
const PROGRESS_MS = 10_000;

/** How one waits. */
export interface Waiting {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly progress?: ((message: string) => void) | undefined;
  /** Whether it is worth trying again after this; without it every change of the team is. */
  readonly matters?: (event: TeamEvent) => boolean;
}

/**
 * Tries until there is something, the time is up, or the caller is gone. It tries again whenever the team changed (without
 * one: any team) in a way that can matter, not by the clock: with 64 calls that wait for mail in an inbox of 5,000, to look
 * after each commit made every commit of the team take 73 ms, where it took 2.
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
    // What was missed, before the first batch or where the team was opened anew, may have been anything.
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
    // Whoever gave up must not be given anything any more; whoever may no longer ask is told why.
    requireWelcome(options.signal);
    return undefined;
  } catch (error) {
    // Why it may no longer ask says more than what it could not do for that reason.
    requireWelcome(options.signal);
    throw error;
  } finally {
    stopListening();
    clearInterval(beat);
  }
}

/** What can bring mail to a member, or change what of it is shown; requests and their answers are mail, too. */
export function mattersToInbox(memberId: string): (event: TeamEvent) => boolean {
  return (event) => {
    if (event.type === 'message:sent') return event.copies.some(({ toId }) => toId === memberId);
    if (/^(?:message|teammate):/.test(event.type) && 'memberId' in event) return event.memberId === memberId;
    return !/^(?:task|note|usage):/.test(event.type);
  };
}

/** What can make a task ready for somebody, or keep somebody from taking any. */
export function mattersToClaim({ type }: TeamEvent): boolean {
  return !/^(?:message|note|usage):/.test(type);
}

/** Refuses a caller whose right to ask has ended: the one who ended it left the refusal in the signal. */
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
