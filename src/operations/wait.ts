import { TeamError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How often a caller who waits is told so. */
const PROGRESS_MS = 10_000;

/**
 * Tries until there is something, the time is up, or the caller is gone. It tries again whenever the team changed (without
 * one: any team), not by the clock.
 */
export async function waitFor<R>(
  ledger: Ledger,
  teamId: string | undefined,
  attempt: () => Promise<R | undefined>,
  options: { ms: number; signal: AbortSignal; progress?: ((message: string) => void) | undefined },
): Promise<R | undefined> {
  const end = performance.now() + options.ms;
  let changed = false;
  let wake = (): void => {};
  const stopListening = ledger.subscribe((changedTeam) => {
    if (teamId !== undefined && changedTeam !== teamId) return;
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
