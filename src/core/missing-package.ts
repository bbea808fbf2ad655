/**
 * Packages that only some users need, as npm is asked for them. npm does not install them with Troupe: they are optional
 * peers in package.json, with the same versions.
 */
export const OPTIONAL_PACKAGES = {
  'A journal on NATS': ['@nats-io/jetstream@3.4.0', '@nats-io/obj@3.4.0', '@nats-io/transport-node@3.4.0'],
  'Tracing with OpenTelemetry': [
    '@opentelemetry/api@1.10.0',
    '@opentelemetry/exporter-trace-otlp-http@0.301.0',
    '@opentelemetry/resources@3.1.0',
    '@opentelemetry/sdk-trace@3.1.0',
  ],
} as const;

/** What to install, if an error of Node's loader says that one of these is missing. */
export function explainMissing(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') return undefined;
  const [, missing] = /Cannot find (?:package|module) '(@[\w-]+\/[\w-]+)/.exec(error.message) ?? [];
  const group = Object.entries(OPTIONAL_PACKAGES).find(([, names]) =>
    names.some((name) => name.startsWith(`${missing}@`)),
  );
  if (missing === undefined || !group) return undefined;
  const [what, names] = group;
  return `${what} needs packages that are not installed with Troupe. Install them beside it: npm install -g ${names.join(' ')}`;
}
