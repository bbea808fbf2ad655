import type { Client } from '../../../client/client.ts';
import type { TeamEvent } from '../../../core/event.ts';

/** The events of a team while a prompt runs. */
export interface TeamFeed {
  /** Resolves with whether there are new events, at the latest when transcripts are due. */
  next(): Promise<boolean>;
  /** The events since the last time. Throws if the daemon is gone. */
  take(): TeamEvent[];
  /** Whether everything up to this batch was taken. */
  isAt(seq: number): boolean;
  /** The last batch. */
  readonly heard: number;
  /** How long nothing has happened. */
  quietMs(): number;
  close(): void;
}

/** How often transcripts of working members are read. Other processes write them. */
const LOOK_MS = 250;

/** Follows a team after a batch. Wakes also when `cancelled` aborts. */
export function listenTo(
  client: Client,
  teamId: string,
  { after, cancelled }: { after: number; cancelled: AbortSignal },
): TeamFeed {
  const stop = new AbortController();
  const waiting: TeamEvent[] = [];
  let heard = after;
  let failure: Error | undefined;
  let last = performance.now();
  let wake = (): void => {};
  const read = async (): Promise<void> => {
    for await (const batch of client.subscribe(teamId, { after, signal: stop.signal })) {
      heard = batch.seq;
      waiting.push(...batch.events);
      last = performance.now();
      wake();
    }
  };
  void read().catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  });
  const onCancel = (): void => wake();
  cancelled.addEventListener('abort', onCancel);
  return {
    async next() {
      if (waiting.length > 0 || cancelled.aborted || failure !== undefined) return true;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, LOOK_MS);
      await promise;
      clearTimeout(timer);
      return waiting.length > 0 || failure !== undefined;
    },
    take() {
      if (failure !== undefined) throw failure;
      return waiting.splice(0);
    },
    isAt: (seq) => waiting.length === 0 && heard >= seq,
    get heard() {
      return heard;
    },
    quietMs: () => performance.now() - last,
    close() {
      cancelled.removeEventListener('abort', onCancel);
      stop.abort();
    },
  };
}
