import type { Limits } from './limits.ts';
import type { Share } from './share.ts';

/** Begins to make an answer, and tells when it was fetched, or was given up. */
export type Make = (fetched: () => void) => void;

/** Who may make long answers now. */
export type LongAnswers = ReturnType<typeof openLongAnswers>;

/**
 * Makes long answers few at a time: each is megabytes from its making until the client has read it. Who asks for many, or
 * reads slowly, waits for itself; the credentials that wait have their turns one after the other, one in each turn of the
 * event loop, so that short calls come in between. A person waits for nobody else's.
 */
export function openLongAnswers(limits: Limits) {
  const waiting = new Set<Share>();
  let others = 0;
  let isPlanned = false;

  const longAnswers = {
    /** Makes the answer as soon as it may. */
    make(share: Share, make: Make): void {
      if (share.unmade.length === 0 && mayMake(share)) return begin(share, make);
      share.unmade.push(() => begin(share, make));
      waiting.add(share);
    },
    /** Resolves when the answer may be made, with the way to tell that it was fetched, or was given up. */
    place(share: Share): Promise<() => void> {
      return new Promise((resolve) => longAnswers.make(share, resolve));
    },
  };
  return longAnswers;

  function mayMake({ isPersons, longAnswers }: Share): boolean {
    return longAnswers < limits.longAnswers && (isPersons || others < limits.longAnswersOfAll);
  }

  function begin(share: Share, make: Make): void {
    let isFetched = false;
    share.longAnswers++;
    if (!share.isPersons) others++;
    make(() => {
      if (isFetched) return;
      isFetched = true;
      share.longAnswers--;
      if (!share.isPersons) others--;
      plan();
    });
  }

  function plan(): void {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    setImmediate(beginNext);
  }

  function beginNext(): void {
    isPlanned = false;
    for (const share of waiting) {
      if (!mayMake(share)) continue;
      waiting.delete(share);
      share.unmade.shift()?.();
      if (share.unmade.length > 0) waiting.add(share);
      return plan();
    }
  }
}
