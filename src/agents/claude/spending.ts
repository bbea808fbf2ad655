import { z } from 'zod';
import { addUsage, NO_USAGE, subtractUsage } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import { ModelUsages } from './lines.ts';
import type { Result } from './lines.ts';
import { shareOf } from './usage.ts';

/** Its answer to `get_usage`. The control request is marked as experimental, and old versions do not have it. */
const UsageSoFar = z.object({ session: z.object({ model_usage: ModelUsages }) });

/** What asking for the usage of a running turn needs. */
export interface SpendingOptions {
  /** The session has totals of an earlier process. */
  readonly resumes: boolean;
  readonly ask: () => Promise<unknown>;
  readonly tell: (usage: Usage) => void;
  /** How often to ask at most, in milliseconds. */
  readonly everyMs?: number | undefined;
}

/** Finds out what a turn has used before its result says so. */
export interface Spending {
  /** A turn begins; its text has not been sent. */
  begin(): void;
  /** Something was heard of it: a model call may have ended. */
  news(): void;
  /** A result has its own totals. */
  settle(result: Result): void;
  end(): void;
}

/** With a subscription, each answer also looks up the limits of the account. */
const EVERY_MS = 30_000;

/**
 * Asks for the totals of the session while a turn runs, and tells how much they have grown since the last result. It asks
 * only after news of the turn, so that a silent turn stays silent, and no more once it is refused.
 */
export function newSpending({ resumes, ask, tell, everyMs = EVERY_MS }: SpendingOptions): Spending {
  /** The totals at the last result. */
  let before: Usage | undefined = resumes ? undefined : NO_USAGE;
  let told = NO_USAGE;
  let isRunning = false;
  let canAsk = true;
  let isAsking = false;
  let askedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Results make earlier questions obsolete. */
  let round = 0;

  return {
    begin() {
      isRunning = true;
      askedAt = performance.now();
      // Requests are answered in order, so these are the totals without the new turn.
      if (before === undefined) void totals(round).then((now) => (before ??= now));
    },
    news() {
      if (!isRunning || !canAsk || timer || isAsking) return;
      timer = setTimeout(() => void look(), Math.max(0, askedAt + everyMs - performance.now()));
    },
    settle({ modelUsage }) {
      round++;
      stopTimer();
      told = NO_USAGE;
      before = modelUsage && sum(modelUsage);
    },
    end() {
      isRunning = false;
      stopTimer();
    },
  };

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function look(): Promise<void> {
    stopTimer();
    askedAt = performance.now();
    const asked = round;
    const now = await totals(asked);
    if (!now || !before || !isRunning || asked !== round) return;
    const used = subtractUsage(now, before);
    // A model call that is not over has not been counted.
    if (used.inputTokens + used.outputTokens <= told.inputTokens + told.outputTokens) return;
    told = used;
    tell(used);
  }

  async function totals(asked: number): Promise<Usage | undefined> {
    isAsking = true;
    try {
      const { session } = UsageSoFar.parse(await ask());
      return asked === round ? sum(session.model_usage) : undefined;
    } catch {
      canAsk = false;
      return undefined;
    } finally {
      isAsking = false;
    }
  }
}

function sum(shares: NonNullable<Result['modelUsage']>): Usage {
  return Object.values(shares).map(shareOf).reduce(addUsage, NO_USAGE);
}
