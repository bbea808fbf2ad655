import { addUsage, isNoUsage, NO_USAGE, subtractUsage } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';

/** Records the usage of a turn as it grows, so that budgets hold during long turns. */
export interface Tally {
  /** Used since the last final report; the next final report includes it. */
  grow(usage: Usage, taskId: string | undefined): void;
  /** A final report: the part of it that is not recorded yet. */
  settle(usage: Usage): Promise<Usage>;
  /** No final report came, as when the agent died: records what was told. */
  end(): Promise<void>;
}

/** Each record is a commit in the team's journal. */
const EVERY_MS = 10_000;

/** Counts for one session. */
export function newTally({
  record,
  onError,
  everyMs = EVERY_MS,
}: {
  record: (usage: Usage, taskId: string | undefined) => Promise<void>;
  onError: (error: unknown) => void;
  everyMs?: number | undefined;
}): Tally {
  /** Recorded since the last final report. */
  let recorded = NO_USAGE;
  let told: { usage: Usage; taskId: string | undefined } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let recording = Promise.resolve();

  return {
    grow(usage, taskId) {
      told = { usage, taskId };
      // Most turns are over before that.
      timer ??= setTimeout(flush, everyMs);
    },
    async settle(usage) {
      forget();
      const rest = subtractUsage(usage, recorded);
      recorded = NO_USAGE;
      await recording;
      return rest;
    },
    async end() {
      flush();
      recorded = NO_USAGE;
      await recording;
    },
  };

  function forget(): void {
    clearTimeout(timer);
    timer = undefined;
    told = undefined;
  }

  /** What is recorded is known before the recording begins: a final report at the same moment must not repeat it. */
  function flush(): void {
    const { usage, taskId } = told ?? { usage: NO_USAGE };
    forget();
    const more = subtractUsage(usage, recorded);
    if (isNoUsage(more)) return;
    recorded = addUsage(recorded, more);
    recording = recording.then(() => record(more, taskId)).catch(onError);
  }
}
