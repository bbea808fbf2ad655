import { AsyncLocalStorage } from 'node:async_hooks';
import { connect } from 'node:net';
import type { Span, SpanContext } from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-trace';
import type { TeamEvent } from '../core/event.ts';
import { explainMissing } from '../core/missing-package.ts';
import type { Picker } from '../ledger/options.ts';
import type { Log } from './log.ts';
import type { Append } from './observed-journal.ts';
import { traceTeams } from './team-traces.ts';
import type { TracedGate } from './team-traces.ts';
import type { StartedCall, TracedCall } from './watched-calls.ts';

/** Sends traces to an OpenTelemetry collector: operations and times with facts, no content. */
export interface Tracing {
  /** Starts the span of a call: in the caller's trace if there is one, else in that of its team. */
  readonly call: (call: StartedCall, start: number) => TracedCall;
  /** Records which call caused which events. */
  readonly around: <R>(pick: Picker<R>) => Picker<R>;
  /** A span in the call that caused it. If there are several, it belongs to the team and is linked to each. */
  appended(append: Append, failure: string | undefined): void;
  /** Records the run of a hook. */
  readonly gate: (run: TracedGate) => void;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the daemon's end waits for a collector. */
const FLUSH_MS = 500;
const COMPLAIN_EVERY_MS = 60_000;
/** How long connecting to a collector may take. */
const REACH_MS = 2_000;

/**
 * Traces according to the standard `OTEL_*` variables:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables. Without an endpoint nothing is
 * loaded or sent.
 */
export async function startTracing(
  environment: Environment,
  { version, transcripts, log }: { version: string; transcripts: string; log: Log },
): Promise<Tracing | undefined> {
  if (!isWanted(environment, log)) return undefined;
  const loaded = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]).catch((error: unknown) => {
    const missing = explainMissing(error);
    if (missing === undefined) throw error;
    log.warn('tracing.failed', { message: missing });
    return undefined;
  });
  if (!loaded) return undefined;
  const [api, sdk, { OTLPTraceExporter }, resources] = loaded;
  let complainedAt = -Infinity;
  const complain = (message: string): void => {
    if (performance.now() - complainedAt < COMPLAIN_EVERY_MS) return;
    complainedAt = performance.now();
    log.warn('tracing.failed', { message: message.slice(0, 500) });
  };
  const ignore = (): void => {};
  api.diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );

  const { resourceFromAttributes, detectResources, envDetector } = resources;
  const own = resourceFromAttributes({ 'service.name': 'troupe', 'service.version': version });
  const provider = new sdk.TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: readSampler(environment, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...readBatching(environment) })],
  });
  const tracer = provider.getTracer('troupe', version);
  log.info('tracing.started', {});
  const { SpanKind, ROOT_CONTEXT, trace } = api;
  const under = (parent: SpanContext | undefined) =>
    parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  const end = (span: Span, { start, ms }: { start: number; ms: number }, failure: string | undefined): void => {
    if (failure !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
    span.end(performance.timeOrigin + start + ms);
  };
  const current = new AsyncLocalStorage<SpanContext>();
  /** The call that caused an event. */
  const causes = new WeakMap<TeamEvent, SpanContext>();
  const teams = traceTeams((name, { parent, at, attributes }) => {
    const span = tracer.startSpan(name, { attributes, ...(at !== undefined && { startTime: at }) }, under(parent));
    return {
      context: span.spanContext(),
      setAttributes: (more) => span.setAttributes(more),
      end({ at: endedAt, failure } = {}) {
        if (failure !== undefined) {
          span.setAttribute('error.type', failure);
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
        }
        span.end(endedAt);
      },
    };
  }, transcripts);
  tellIfAway(endpointOf(environment) as string, complain);

  return {
    call({ operation, teamId, memberId, traceparent }, start) {
      const attributes = {
        ...(teamId !== undefined && { 'troupe.team': teamId }),
        ...(memberId !== undefined && { 'troupe.member': memberId }),
      };
      const startTime = performance.timeOrigin + start;
      const own = traceparent === undefined ? undefined : readTraceparent(traceparent);
      const parent = under(own ?? (teamId === undefined ? undefined : teams.parentOf(teamId, memberId)));
      const span = tracer.startSpan(operation, { kind: SpanKind.SERVER, startTime, attributes }, parent);
      return {
        run: (work) => current.run(span.spanContext(), work),
        end(call) {
          span.setAttribute('troupe.code', call.code);
          end(span, call, call.code === 'ok' ? undefined : call.code);
        },
      };
    },

    around(pick) {
      const cause = current.getStore();
      if (!cause) return pick;
      return (state, events) => {
        for (const event of events) causes.set(event, cause);
        return pick(state, events);
      };
    },

    appended({ team, events, start, ms }, failure) {
      const found = new Set(events.flatMap((event) => causes.get(event) ?? []));
      const [only, another] = found;
      const span = tracer.startSpan(
        'journal.append',
        {
          startTime: performance.timeOrigin + start,
          attributes: { 'troupe.team': team, 'troupe.events': events.length },
          ...(another && { links: [...found].map((context) => ({ context })) }),
        },
        under(another || !only ? teams.parentOf(team, undefined) : only),
      );
      end(span, { start, ms }, failure);
      if (failure === undefined) teams.saw(team, events);
    },

    gate: (run) => teams.gate(run),

    async close() {
      await teams.close();
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          complain(`The collector did not take the last spans within ${FLUSH_MS} ms`);
          resolve();
        }, FLUSH_MS);
      });
      const flushed = provider.shutdown().catch((error: unknown) => complain(String(error)));
      await Promise.race([flushed, patience]);
      clearTimeout(timer);
    },
  };
}

/**
 * Whether the environment asks for traces that we can send. This and what follows reads `OTEL_*` by hand, because in
 * version 3 only `@opentelemetry/sdk-node` reads these variables, and it has 23 dependencies.
 */
function isWanted(environment: Environment, log: Log): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  if (endpointOf(environment) === undefined) return false;
  const exporters = (environment['OTEL_TRACES_EXPORTER'] || 'otlp').split(',').map((one) => one.trim());
  if (!exporters.includes('otlp')) return false;
  const protocol =
    environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || environment['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/json';
  if (protocol === 'http/json') return true;
  log.warn('tracing.unsupported', { protocol, supported: 'http/json' });
  // Collectors accept both at the same address.
  return protocol.startsWith('http/');
}

function endpointOf(environment: Environment): string | undefined {
  return environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined;
}

/** The exporter retries for so long that the daemon may end before it reports an unreachable collector. */
function tellIfAway(endpoint: string, complain: (message: string) => void): void {
  if (!URL.canParse(endpoint)) return complain(`${endpoint} is not the address of a collector`);
  const { hostname, port, protocol } = new URL(endpoint);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80), timeout: REACH_MS });
  const away = (why: string): void => {
    complain(`The collector at ${host} cannot be reached (${why}): spans are kept for a while, then dropped`);
    socket.destroy();
  };
  socket.unref().once('connect', () => socket.destroy());
  socket.once('error', (error) => away(error.message)).once('timeout', () => away('it does not answer'));
}

/** W3C Trace Context, https://www.w3.org/TR/trace-context/#traceparent-header; anything else is ignored. */
function readTraceparent(text: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** An id of all zeros is invalid, and so is version ff. A later version may add more fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

function readSampler(environment: Environment, sdk: typeof Sdk): Sdk.Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const given = Number(environment['OTEL_TRACES_SAMPLER_ARG'] || 1);
  const ratio = given >= 0 && given <= 1 ? given : 1;
  const root = name.endsWith('always_off')
    ? new sdk.AlwaysOffSampler()
    : name.endsWith('traceidratio')
      ? new sdk.TraceIdRatioBasedSampler(ratio)
      : new sdk.AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function readBatching(environment: Environment) {
  const read = (name: string, option: string): Record<string, number> => {
    const value = Number(environment[`OTEL_BSP_${name}`] || NaN);
    return value > 0 ? { [option]: value } : {};
  };
  return {
    ...read('SCHEDULE_DELAY', 'scheduledDelayMillis'),
    ...read('EXPORT_TIMEOUT', 'exportTimeoutMillis'),
    ...read('MAX_QUEUE_SIZE', 'maxQueueSize'),
    ...read('MAX_EXPORT_BATCH_SIZE', 'maxExportBatchSize'),
  };
}
