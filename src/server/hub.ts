import { TeamError } from '../core/errors.ts';
import { isPresent } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import { callOperation } from '../operations/index.ts';
import type { Call } from '../operations/index.ts';
import type { Services, TakePlace, TakeWait, WhenAnswered } from '../operations/operation.ts';
import type { Credentials } from './auth.ts';
import { LIMITS, LOOK_MS } from './limits.ts';
import type { Limits } from './limits.ts';
import { openLingering } from './lingering.ts';
import type { Lingering } from './lingering.ts';
import { openFeeds } from './push.ts';
import type { Feeds } from './push.ts';
import { openLongAnswers, openShares } from './share.ts';
import type { TakeLongAnswer, TakeShare } from './share.ts';
import { openTurns } from './turns.ts';
import type { Turns } from './turns.ts';

/** What a server needs. */
export interface HubOptions {
  readonly services: Services;
  readonly credentials: Credentials;
  readonly limits?: Partial<Limits>;
  readonly mcp?: OpenLines;
  /** The counters to use. The metrics read them without the hub. */
  readonly counters?: Counters;
  /** Called with defects, and with errors whose details no client may see. */
  readonly onError?: (error: unknown, where: string) => void;
}

/**
 * Serves MCP to a client that sent the frame `mcp`. From then on the connection carries MCP lines instead of frames.
 */
export type OpenLines = (
  caller: Caller,
  greeting: unknown,
  line: { readonly send: (line: string) => void; readonly takePlace: TakePlace; readonly takeWait: TakeWait },
) => Promise<{ receive(line: string): void; close(): void }>;

/** Totals of the server, and the number of open connections. */
export interface Counters {
  connections: number;
  calls: number;
  /** Calls that were refused or failed. */
  refusals: number;
  /** Requests and connections without a valid credential, Host or Origin. */
  rejected: number;
  /** Clients that were cut off because they did not read. */
  cut: number;
}

/** Counters of a server that has done nothing yet. */
export function createCounters(): Counters {
  return { connections: 0, calls: 0, refusals: 0, rejected: 0, cut: 0 };
}

/** Why the daemon ends a connection. The codes are those of WebSocket. */
export interface Ending {
  readonly code: 1001 | 1008 | 1013;
  readonly reason: string;
  /** The error for a request that waits. Without it, the request ends with its connection. */
  readonly refusal?: 'unauthenticated' | 'conflict';
}

/** A client that stays connected and receives pushes: over a WebSocket, the Unix socket, or as server-sent events. */
export interface Connected {
  readonly caller: Caller;
  /** Whether its credential is still valid, if that can be checked at once. */
  readonly isValid?: (() => boolean) | undefined;
  /** It may belong to a process that Troupe ends and that still has something to report. */
  readonly speaks?: true;
  /** Ends it from our side, after the frames that wait were sent. */
  end(ending: Ending): Promise<void>;
  /** Called every `LOOK_MS`. Cuts off a client that does not read. */
  check(): void;
}

/** A connection or request that ends with its credential. */
type Held = Pick<Connected, 'caller' | 'isValid' | 'speaks' | 'end'>;

/** A request over HTTP that is under way. */
export interface Visit {
  /**
   * Aborts when the client disconnects. Also aborts when its credential ends, with the refusal as the reason; then only
   * a call that waits is given up.
   */
  readonly signal: AbortSignal;
  /** Called when the request was answered or its client disconnected. */
  readonly over: () => void;
}

/** What all connections share. */
export interface Hub {
  readonly services: Services;
  readonly credentials: Credentials;
  readonly limits: Limits;
  readonly feeds: Feeds;
  readonly turns: Turns;
  readonly lingering: Lingering;
  readonly takeShare: TakeShare;
  readonly takeLongAnswer: TakeLongAnswer;
  readonly mcp: OpenLines | undefined;
  readonly counters: Counters;
  /** The clients that stay connected. */
  readonly connected: ReadonlySet<Connected>;
  /** Adds a client. If the server is closing, the client is ended at once. */
  join(one: Connected): void;
  leave(one: Connected): void;
  /** Begins a request. When its credential ends, the request stops waiting. */
  visit(one: Pick<Connected, 'caller' | 'isValid'>): Visit;
  /** The number of requests under way. */
  readonly visits: number;
  /** The number of open connections, of every kind. */
  readonly connections: number;
  /** Runs an operation. */
  call(name: string, call: Call): Promise<unknown>;
  /** For faces that can tell whether their answer was sent. `face` gets the function to report that to. */
  whenAnswered(face: (heard: (isHeard: boolean) => void) => void): WhenAnswered;
  /** An error as a client may see it. A defect is reported, and the client sees no details. */
  asTeamError(error: unknown): TeamError;
  /** Counts a connection. Returns a function that ends the counting. */
  count(): () => void;
  /** Reports an error that no client may see. */
  report(error: unknown, where: string): void;
  /** Ends all clients that stay connected, after the frames that wait were sent. */
  closeAll(): Promise<void>;
}

const GOING_AWAY: Ending = { code: 1001, reason: 'the daemon is stopping' };
const VOID: Ending = { code: 1008, reason: 'this credential is no longer valid', refusal: 'unauthenticated' };
/** For former leads: their credential is now a member's. */
const CHANGED: Ending = {
  code: 1008,
  reason: 'the rights of this credential have changed: ask again',
  refusal: 'conflict',
};

/** Made once: a new error for every request would cost some microseconds. */
const GONE = new Error('the client is gone');

/** Opens what all connections share. */
export function openHub(options: HubOptions): Hub {
  const { services, credentials, limits: chosen, mcp, counters = createCounters(), onError } = options;
  const limits: Limits = { ...LIMITS, ...chosen };
  const connected = new Set<Connected>();
  const visits = new Set<Held>();
  const report = (error: unknown, where: string): void => onError?.(error, where);
  const feeds = openFeeds(services.ledger, (error) => report(error, 'push'));
  let closing = false;

  const checking = setInterval(() => {
    for (const one of connected) one.check();
    endWhere(({ isValid }) => isValid?.() === false);
  }, LOOK_MS).unref();
  // A connection keeps the rights it began with. When these change, the client must reconnect.
  const stopHearing = credentials.onVoid(() => endWhere(() => true));
  const stopListening = services.ledger.subscribe((teamId, { seq, events }) => {
    if (seq === 1) endWhere(({ caller }) => caller.teamId === teamId);
    else if (events.some((event) => event.type === 'team:updated' && event.leadId !== undefined)) {
      endWhere(({ caller }) => caller.teamId === teamId && caller.scope === 'lead', CHANGED);
    }
    for (const event of events) {
      if (event.type === 'teammate:joined' || event.type === 'teammate:stopped') endGone(teamId, event.memberId);
    }
  });

  const hub: Hub = {
    services,
    credentials,
    limits,
    lingering: openLingering(limits),
    feeds,
    turns: openTurns((error) => report(error, 'write')),
    takeShare: openShares(limits),
    takeLongAnswer: openLongAnswers(limits),
    mcp,
    counters,
    connected,
    report,

    join(one) {
      connected.add(one);
      if (closing) void one.end(GOING_AWAY);
    },

    leave(one) {
      connected.delete(one);
    },

    visit({ caller, isValid }) {
      const controller = new AbortController();
      const visit: Held = {
        caller,
        isValid,
        async end({ refusal, reason }) {
          if (refusal) controller.abort(new TeamError(refusal, reason));
        },
      };
      visits.add(visit);
      return {
        signal: controller.signal,
        over() {
          visits.delete(visit);
          controller.abort(GONE);
        },
      };
    },

    get visits() {
      return visits.size;
    },

    get connections() {
      return counters.connections;
    },

    count() {
      let isOpen = true;
      counters.connections++;
      return () => {
        if (isOpen) counters.connections--;
        isOpen = false;
      };
    },

    call(name, call) {
      counters.calls++;
      const called = callOperation(services, name, call);
      return name === 'team.delete' ? called.then(teamGone) : called;
    },

    whenAnswered(face) {
      return (hear) => face((isHeard) => void hear(isHeard).catch((error: unknown) => report(error, 'call')));
    },

    asTeamError(error) {
      counters.refusals++;
      if (error instanceof TeamError) return error;
      report(error, 'call');
      return new TeamError('internal', 'This is a bug in Troupe: see the log of the daemon');
    },

    async closeAll() {
      closing = true;
      clearInterval(checking);
      stopHearing();
      stopListening();
      feeds.close();
      await Promise.all([...connected].map((one) => one.end(GOING_AWAY)));
    },
  };
  return hub;

  function teamGone(deleted: unknown): unknown {
    const { teamId } = deleted as { teamId: string };
    feeds.dropped(teamId);
    endWhere(({ caller }) => caller.teamId === teamId);
    return deleted;
  }

  /**
   * Ends the connections of a member that left, also if another one joined under its name. A process that the daemon
   * runs has last things to report: its connections stay until it has ended, for at most `lastWordsMs`.
   */
  function endGone(teamId: string, memberId: string, giveUp = performance.now() + limits.lastWordsMs): void {
    const isMembers = ({ caller }: Held): boolean =>
      caller.teamId === teamId && caller.memberId === memberId && caller.since !== undefined;
    if (![...connected, ...visits].some(isMembers)) return;
    services.ledger
      .view(teamId, (state) => {
        const member = state.members.get(memberId);
        const isEnding = member?.agent !== undefined && member.status === 'stopped' && performance.now() < giveUp;
        endWhere((one) => isMembers(one) && !isPresent(state, one.caller) && !(isEnding && one.speaks));
        // By then, everything that the process wrote was read.
        if (isEnding) setTimeout(lookAgain, Math.min(LOOK_MS, limits.lastWordsMs)).unref();
      })
      .catch((error: unknown) => report(error, 'credentials'));

    function lookAgain(): void {
      endGone(teamId, memberId, services.sessions.hasProcess(teamId, memberId) ? giveUp : 0);
    }
  }

  function endWhere(matches: (one: Held) => boolean, ending = VOID): void {
    for (const one of [...connected, ...visits]) if (matches(one)) void one.end(ending);
  }
}
