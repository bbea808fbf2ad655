import type * as Sdk from '@opentelemetry/sdk-trace';
import type { Log } from './log.ts';

/** One thing that was done, from when to when, with facts about it and no content. */
export interface Trace {
  readonly name: string;
  /** On the clock of `performance.now`. */
  readonly start: number;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The code of the refusal, if it was refused. */
  readonly failure?: string | undefined;
}

/** Sends traces to an OpenTelemetry collector. */
export interface Tracing {
  record(trace: Trace): void;
  /** Sends what was not sent yet. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the end of the daemon waits for a collector. */
const FLUSH_MS = 2_000;
const COMPLAIN_EVERY_MS = 60_000;

/**
 * Traces as the standard `OTEL_*` variables want them: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
 * Without an endpoint in them nothing is loaded and nothing is sent.
 */
export async function startTracing(environment: Environment, version: string, log: Log): Promise<Tracing | undefined> {
  if (!isWanted(environment, log)) return undefined;
  const [api, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
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

  return {
    record({ name, start, ms, attributes, failure }) {
      const startTime = performance.timeOrigin + start;
      const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, startTime, attributes, root: true });
      if (failure !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
      span.end(startTime + ms);
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
      const flushed = provider.shutdown().catch((error: unknown) => complain(String(error)));
      await Promise.race([flushed, patience]);
      clearTimeout(timer);
    },
  };
}

function isWanted(environment: Environment, log: Log): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  const endpoint =
    environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined;
  if (endpoint === undefined) return false;
  const exporters = (environment['OTEL_TRACES_EXPORTER'] || 'otlp').split(',').map((one) => one.trim());
  if (!exporters.includes('otlp')) return false;
  const protocol =
    environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || environment['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/json';
  if (protocol.startsWith('http/')) return true;
  log.warn('tracing.unsupported', { protocol, supported: 'http/json' });
  return false;
}

function readSampler(environment: Environment, sdk: typeof Sdk): Sdk.Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const given = Number(environment['OTEL_TRACES_SAMPLER_ARG'] || 1);
  const ratio = given >= 0 && given <= 1 ? given : 1;
  // None of our spans has a parent, so what a sampler would ask about one is left out.
  if (name.endsWith('always_off')) return new sdk.AlwaysOffSampler();
  if (name.endsWith('traceidratio')) return new sdk.TraceIdRatioBasedSampler(ratio);
  return new sdk.AlwaysOnSampler();
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
