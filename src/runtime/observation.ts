import { TeamError } from '../core/errors.ts';
import { JournalAwayError } from '../journal/away.ts';
import type { Closers } from './closers.ts';
import type { Health } from './health.ts';
import { createInstruments } from './instruments.ts';
import type { Instruments, Sources } from './instruments.ts';
import type { Log } from './log.ts';
import { watchLoopLag } from './loop-lag.ts';
import type { Append } from './observed-journal.ts';
import { watchOpenFiles } from './open-files.ts';
import type { Reserve } from './reserve.ts';
import { startTracing } from './tracing.ts';
import type { Tracing } from './tracing.ts';
import { watchCalls } from './watched-calls.ts';
import type { WatchedCalls } from './watched-calls.ts';

/** Everything that shows from outside how the daemon is doing. */
export interface Observation {
  readonly instruments: Instruments;
  readonly calls: WatchedCalls;
  /** Call this after every append. */
  readonly appended: (append: Append) => void;
  /** For a ledger, if traces should show which call caused an append. */
  readonly around: Tracing['around'] | undefined;
  /** Call this after every run of a hook. */
  readonly gate: Tracing['gate'] | undefined;
}

/** What is observed, and where it is reported. */
export interface ObservationOptions extends Omit<Sources, 'loopLagMs' | 'isDegraded'> {
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly closers: Closers;
  readonly reserve: Reserve;
  readonly health: Health;
  /** The folder with the members' transcripts. */
  readonly transcripts: string;
}

/** How late the event loop may be before that is logged. */
const LAG_MS = 200;

/** Reports every call and every append to the log, the metrics and the traces: names, codes and times, no content. */
export async function openObservation({
  log,
  environment,
  closers,
  reserve,
  health,
  transcripts,
  ...sources
}: ObservationOptions): Promise<Observation> {
  reserve.tell(health);
  const lag = watchLoopLag(LAG_MS, (ms) => log.warn('loop.late', { ms: Math.round(ms) }));
  closers.add('lag', () => lag.close());
  closers.add('open files', watchOpenFiles(health));
  const instruments = createInstruments({
    ...sources,
    loopLagMs: () => lag.milliseconds(),
    isDegraded: () => health.report().status === 'degraded',
  });
  const tracing = await startTracing(environment, { version: sources.version, transcripts, log });
  closers.add('tracing', () => tracing?.close());
  const calls = watchCalls((call) => {
    const { operation, teamId, memberId, code, ms } = call;
    instruments.called(operation, code);
    log.debug('call', { operation, teamId, memberId, code, ms });
  }, tracing?.call);
  return {
    instruments,
    calls,
    around: tracing?.around,
    gate: tracing?.gate,
    appended(append) {
      const code = codeOf(append.error);
      instruments.appended(append);
      tracing?.appended(append, code);
      if (code === undefined) health.clear('journal');
      // An unreachable journal reports itself, for as long as it lasts.
      else if (code === 'storage' && !(append.error instanceof JournalAwayError)) {
        // First, so that there is room for the log line.
        reserve.failed();
        health.raise('journal', (append.error as TeamError).message, { team: append.team });
      }
    },
  };
}

function codeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof TeamError ? error.code : 'internal';
}
