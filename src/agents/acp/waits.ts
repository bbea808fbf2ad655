import type { AgentEvent, TurnEnd } from '../agent.ts';

/** An agent waits for its model and says until when, in milliseconds since 1970. */
export interface AnnouncedWait {
  readonly reason: string;
  readonly until: number;
}

/** Asks an agent whether a session of it waits; ACP has no word for that. Rejects if it gives no answer. */
export type FindWait = (sessionId: string) => Promise<AnnouncedWait | undefined>;

/** Looks for waits during a turn. */
export interface WaitWatch {
  /** Something was heard of the turn, so it does not wait. */
  heard(): void;
  /** The end of a turn that was ended because the wait would be too long. */
  limited(): TurnEnd | undefined;
  stop(): void;
}

/** What looking for waits needs. */
export interface WaitOptions {
  readonly find: () => Promise<AnnouncedWait | undefined>;
  readonly tell: (event: AgentEvent) => void;
  /** Ends the turn. */
  readonly giveUp: () => void;
  /** How long nothing may be heard before it looks, and how often it looks then. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 10_000;

/** A longer wait is a limit of the account: then no turn should begin on it, and its member may have a fallback. */
const LONGEST_MS = 5 * 60_000;

/** Looks only while nothing is heard: most turns never wait. */
export function watchWaits({ find, tell, giveUp, everyMs = EVERY_MS }: WaitOptions): WaitWatch {
  let isQuiet = false;
  let isLooking = false;
  let isOver = false;
  let told: number | undefined;
  let limit: AnnouncedWait | undefined;

  const look = async (): Promise<void> => {
    const wait = await find();
    if (!wait || isOver || wait.until === told) return;
    told = wait.until;
    tell({ type: 'waiting', ...wait });
    if (wait.until - Date.now() < LONGEST_MS) return;
    limit = wait;
    giveUp();
  };
  const timer = setInterval(() => {
    const wasQuiet = isQuiet;
    isQuiet = true;
    if (!wasQuiet || isLooking || limit) return;
    isLooking = true;
    // An agent that cannot be asked is one that says nothing: the clocks of the turn notice it.
    void look()
      .catch(() => {})
      .finally(() => (isLooking = false));
  }, everyMs);

  return {
    heard() {
      isQuiet = false;
    },
    limited: () =>
      limit && {
        type: 'turnEnd',
        reason: 'failed',
        text: '',
        error: limit.reason,
        trouble: 'limited',
        resetsAt: limit.until,
      },
    stop() {
      isOver = true;
      clearInterval(timer);
    },
  };
}
