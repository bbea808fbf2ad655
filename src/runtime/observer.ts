import { TeamError } from '../core/errors.ts';
import type { Health } from './health.ts';
import type { Instruments } from './instruments.ts';
import type { Log } from './log.ts';
import type { Append } from './observed-journal.ts';
import type { Tracing } from './tracing.ts';
import type { EndedCall } from './watched-calls.ts';

/** Where what is seen goes. */
export interface ObserverOptions {
  readonly log: Log;
  readonly health: Health;
  readonly instruments: Instruments;
  readonly tracing: Tracing | undefined;
}

/** Sees every call and every append, and tells the log, the metrics and the traces: names, codes and times, no content. */
export function createObserver({ log, health, instruments, tracing }: ObserverOptions) {
  return {
    called({ operation, teamId, memberId, code, start, ms }: EndedCall): void {
      instruments.called(operation, code);
      log.debug('call', { operation, teamId, memberId, code, ms });
      tracing?.record({
        name: operation,
        start,
        ms,
        attributes: {
          'troupe.code': code,
          ...(teamId !== undefined && { 'troupe.team': teamId }),
          ...(memberId !== undefined && { 'troupe.member': memberId }),
        },
        failure: code === 'ok' ? undefined : code,
      });
    },

    appended(append: Append): void {
      const { team, events, start, ms, error } = append;
      const code = error === undefined ? undefined : error instanceof TeamError ? error.code : 'internal';
      instruments.appended(append);
      tracing?.record({
        name: 'journal.append',
        start,
        ms,
        attributes: { 'troupe.team': team, 'troupe.events': events.length },
        failure: code,
      });
      if (code === undefined) health.clear('journal');
      else if (code === 'storage') health.raise('journal', (error as TeamError).message, { team });
    },
  };
}
