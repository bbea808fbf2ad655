import { TeamError } from '../core/errors.ts';
import type { AnswerPlace, TakePlace } from '../operations/operation.ts';
import { requireWelcome } from '../operations/wait.ts';

/** The answer to one call of a tool, as far as long ones go into it. */
export interface LongAnswer {
  /** Does an operation with a long answer when the caller may have one made. One that `waits` has its place for it alone. */
  make<R>(work: () => Promise<R>, options: { readonly waits: boolean }): Promise<R>;
  /** It is whole, and about to be handed over if anybody wants it. */
  end(): void;
}

/**
 * Begins one. A tool may do several operations: it has one place for all of them, or two tools would wait for each other,
 * each with half of what it needs.
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
      // Now: over HTTP the signal aborts with the server of the request, and that closes when its answer is made.
      const isWanted = !signal.aborted;
      // In the next turn of the event loop it is on its way.
      setImmediate(() => void place?.then(({ sent, over }) => (isWanted ? sent() : over())));
    },
  };
}

/** It may have been given up, or lost its right to ask, while others had their places. */
function requireWanted(signal: AbortSignal): void {
  requireWelcome(signal);
  if (signal.aborted) throw new TeamError('conflict', 'The call was given up before it was answered');
}
