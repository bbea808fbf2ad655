import { TeamError } from '../core/errors.ts';
import { isSlug } from '../core/text.ts';

/** What is known of a call before it is done. */
export interface StartedCall {
  /** The operation's name, or `unknown`: never a text of the caller's. */
  readonly operation: string;
  readonly teamId: string | undefined;
  readonly memberId: string | undefined;
  /** It waits for something to happen, perhaps for minutes. */
  readonly isWaiting: boolean;
  /** The span that it is part of, as its caller wrote it. */
  readonly traceparent?: string | undefined;
}

/** A call that is traced while it runs. */
export interface TracedCall {
  /** Does the work: what follows from it is known to be part of the call. */
  run<R>(work: () => R): R;
  end(call: EndedCall): void;
}

/** What a call came to. */
export interface EndedCall extends StartedCall {
  /** `ok`, or the code of the refusal. */
  readonly code: string;
  /** On the clock of `performance.now`. */
  readonly start: number;
  readonly ms: number;
}

/** Sees every call of every face. */
export interface WatchedCalls {
  run<R>(call: StartedCall, work: () => Promise<R>): Promise<R>;
  /** From now on no call is begun; resolves when those under way have ended, or after `ms`. */
  drain(ms: number): Promise<void>;
}

/** Counts the calls under way and tells what each came to. Neither `ended` nor what traces may throw. */
export function watchCalls(
  ended: (call: EndedCall) => void,
  trace?: (call: StartedCall, start: number) => TracedCall,
): WatchedCalls {
  let underWay = 0;
  let onIdle: (() => void) | undefined;
  return {
    run(call, work) {
      // Not answered, a call is sent once more to the next daemon under the same id: so it is done, and done once.
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

/** The facts of a call that may be told: names that are names, and no other text of the caller's. */
export function factsOf(
  operation: string,
  call: {
    readonly caller: { readonly teamId?: string; readonly memberId?: string };
    readonly input: unknown;
    readonly as?: string | undefined;
    readonly traceparent?: string | undefined;
  },
): StartedCall {
  const { teamId, wait } = (call.input ?? {}) as { teamId?: unknown; wait?: unknown };
  return {
    operation,
    teamId: nameOf(teamId) ?? call.caller.teamId,
    memberId: call.caller.memberId ?? nameOf(call.as),
    isWaiting: typeof wait === 'number' && wait > 0,
    traceparent: call.traceparent,
  };
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && isSlug(value) ? value : undefined;
}
