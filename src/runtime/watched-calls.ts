import { TeamError } from '../core/errors.ts';
import { isSlug } from '../core/fields.ts';

/** What is known of a call before it runs. */
export interface StartedCall {
  /** The operation's name, or `unknown`: never the caller's text. */
  readonly operation: string;
  readonly teamId: string | undefined;
  readonly memberId: string | undefined;
  /** It waits for an event, perhaps for minutes. */
  readonly isWaiting: boolean;
  /** The caller's span, as the caller wrote it. */
  readonly traceparent?: string | undefined;
}

/** A call that is traced while it runs. */
export interface TracedCall {
  /** Runs the work; its effects count as part of the call. */
  run<R>(work: () => R): R;
  end(call: EndedCall): void;
}

/** The outcome of a call. */
export interface EndedCall extends StartedCall {
  /** `ok`, or the error code. */
  readonly code: string;
  /** On the clock of `performance.now`. */
  readonly start: number;
  readonly ms: number;
}

/** Sees every call of every face. */
export interface WatchedCalls {
  run<R>(call: StartedCall, work: () => Promise<R>): Promise<R>;
  /** Starts no more calls; resolves when the running ones have ended, or after `ms`. */
  drain(ms: number): Promise<void>;
}

/** Counts the running calls and reports the outcome of each. Neither `ended` nor `trace` may throw. */
export function watchCalls(
  ended: (call: EndedCall) => void,
  trace?: (call: StartedCall, start: number) => TracedCall,
): WatchedCalls {
  let underWay = 0;
  let onIdle: (() => void) | undefined;
  return {
    run(call, work) {
      // Left unanswered, the caller sends it to the next daemon under the same id, so it is done exactly once.
      if (onIdle) return new Promise(() => {});
      const start = performance.now();
      if (!call.isWaiting) underWay++;
      const traced = trace?.(call, start);
      const end = (code: string): void => {
        if (!call.isWaiting && --underWay === 0) onIdle?.();
        const outcome = { ...call, code, start, ms: performance.now() - start };
        ended(outcome);
        traced?.end(outcome);
      };
      return (traced ? traced.run(work) : work()).then(
        (result) => {
          end('ok');
          return result;
        },
        (error: unknown) => {
          end(error instanceof TeamError ? error.code : 'internal');
          throw error;
        },
      );
    },
    async drain(ms) {
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      if (underWay === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([idle, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
      clearTimeout(timer);
    },
  };
}

/** The facts of a call that may be logged: valid names, and no other text of the caller. */
export function factsOf(
  operation: string,
  call: {
    readonly caller: { readonly teamId?: string; readonly memberId?: string };
    readonly input: unknown;
    readonly as?: string | undefined;
    readonly traceparent?: string | undefined;
  },
): StartedCall {
  const { teamId, name, wait } = (call.input ?? {}) as { teamId?: unknown; name?: unknown; wait?: unknown };
  // A new team is named in another field.
  const team = nameOf(operation === 'team.create' ? name : teamId);
  return {
    operation,
    teamId: team ?? call.caller.teamId,
    memberId: call.caller.memberId ?? nameOf(call.as),
    isWaiting: typeof wait === 'number' && wait > 0,
    traceparent: call.traceparent,
  };
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && isSlug(value) ? value : undefined;
}
