import { TeamError } from '../core/errors.ts';
import type { AnswerPlace, TakePlace } from '../operations/operation.ts';
import { requireWelcome } from '../operations/wait.ts';

/** Holds the place for the long answers of one tool call. */
export interface LongAnswer {
  /**
   * Runs an operation with a long answer once the caller has a place for it. One that `waits` takes a place of its own.
   */
  make<R>(work: () => Promise<R>, options: { readonly waits: boolean }): Promise<R>;
  /** The answer is complete, and is sent next if the client still wants it. */
  end(): void;
}

/**
 * Opens the answer of one call. All operations of a tool share one place. Otherwise two tools could deadlock, each with
 * half of the places it needs.
 */
export function openAnswer(takePlace: TakePlace | undefined, signal: AbortSignal): LongAnswer {
  let place: Promise<AnswerPlace> | undefined;

  return {
    async make(work, { waits }) {
      if (!takePlace) return work();
      const { over } = await (waits ? takePlace() : (place ??= takePlace()));
      try {
        requireWanted(signal);
        return await work();
      } finally {
        if (waits) over();
      }
    },
    end() {
      // Read the signal now: over HTTP it aborts when the request's server closes, which is when its answer is made.
      const isWanted = !signal.aborted;
      // The answer is sent in the next turn of the event loop.
      setImmediate(() => void place?.then(({ sent, over }) => (isWanted ? sent() : over())));
    },
  };
}

/** Fails if the client cancelled the call, or lost its rights, while it waited for a place. */
function requireWanted(signal: AbortSignal): void {
  requireWelcome(signal);
  if (signal.aborted) throw new TeamError('conflict', 'The call was cancelled before the answer');
}
