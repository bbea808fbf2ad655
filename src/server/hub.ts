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

/** What a server is made of. */
export interface HubOptions {
  readonly services: Services;
  readonly credentials: Credentials;
  readonly limits?: Partial<Limits>;
  readonly mcp?: OpenLines;
  /** Counted there, for those who look at the numbers and not at the hub. */
  readonly counters?: Counters;
  /** Hears defects and trouble that no client can be told about in full. */
  readonly onError?: (error: unknown, where: string) => void;
}

/** Serves MCP to a client that asked for it with the frame `mcp`: from then on lines go both ways, and no frames. */
export type OpenLines = (
  caller: Caller,
  greeting: unknown,
  line: { readonly send: (line: string) => void; readonly takePlace: TakePlace; readonly takeWait: TakeWait },
) => Promise<{ receive(line: string): void; close(): void }>;

/** What the server has done so far, and how many are connected. */
export interface Counters {
  connections: number;
  calls: number;
  /** Calls that were refused or failed. */
  refusals: number;
  /** Requests and connections without a right credential, Host or Origin. */
  rejected: number;
  /** Clients that were cut off because they did not read. */
  cut: number;
}

/** Counters of a server that has done nothing yet. */
export function createCounters(): Counters {
  return { connections: 0, calls: 0, refusals: 0, rejected: 0, cut: 0 };
}

/** Why the daemon ends a connection; the numbers are those of WebSocket. */
export interface Ending {
  readonly code: 1001 | 1008 | 1013;
  readonly reason: string;
  /** How a request that waits is refused; without it, it ends with its connection. */
  readonly refusal?: 'unauthenticated' | 'conflict';
}

/** A client that stays connected and is sent things: over a WebSocket, the Unix socket, or as server-sent events. */
export interface Connected {
  readonly caller: Caller;
  /** Whether its credential still counts, where that can be told at once. */
  readonly isValid?: (() => boolean) | undefined;
  /** It may be that of a process that Troupe ends, which then still has something to tell. */
  readonly speaks?: true;
  /** Ends it from our side, after what waits has gone out. */
  end(ending: Ending): Promise<void>;
  /** Called every `LOOK_MS`: a client that takes nothing is cut off. */
  check(): void;
}

/** What ends with its credential. */
type Held = Pick<Connected, 'caller' | 'isValid' | 'speaks' | 'end'>;

/** A request over HTTP that is under way. */
export interface Visit {
  /** Aborts when the client is gone; and when its credential ends, with the refusal as its reason: then only what waits is given up. */
  readonly signal: AbortSignal;
  /** It was answered, or its client is gone. */
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
  /** Who is connected to stay. */
  readonly connected: ReadonlySet<Connected>;
  /** Adds one; when the server is closing it is ended at once. */
  join(one: Connected): void;
  leave(one: Connected): void;
  /** Begins a request. What it waits for ends with its credential, as connections do. */
  visit(one: Pick<Connected, 'caller' | 'isValid'>): Visit;
  /** How many requests are under way. */
  readonly visits: number;
  /** The connections that are open, of every kind. */
  readonly connections: number;
  /** Does an operation. */
  call(name: string, call: Call): Promise<unknown>;
  /** For a call of a face that can tell whether its answer went out: `face` is given the one to tell. */
  whenAnswered(face: (heard: (isHeard: boolean) => void) => void): WhenAnswered;
  /** An error as a client may see it; defects are reported and told without detail. */
  asTeamError(error: unknown): TeamError;
  /** Counts a connection; returns the way to count it no more. */
  count(): () => void;
  /** Tells trouble that no client can be told about. */
  report(error: unknown, where: string): void;
  /** Ends all connections that stay, after what waits for them has gone out. */
  closeAll(): Promise<void>;
}

const GOING_AWAY: Ending = { code: 1001, reason: 'the daemon is stopping' };
const VOID: Ending = { code: 1008, reason: 'this credential is no longer valid', refusal: 'unauthenticated' };
/** For those who lead no more; their credential is now a member's. */
const CHANGED: Ending = {
  code: 1008,
  reason: 'what this credential allows has changed: ask again',
  refusal: 'conflict',
};

/** Made once: an error of its own would cost every request some microseconds. */
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
  // A connection keeps the powers with which it began: when those change, it must begin anew.
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
      return new TeamError('internal', 'This is a defect of ours: the log of the daemon says more');
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
   * Who left, and another one who came under its name. The process that a daemon runs has last things to say: its
   * connections stay until it is gone, and not for longer than a process may take to end.
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
        // What a process wrote last is read by then.
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
