import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A span as it comes over the wire, with its attributes as an object. */
export interface SpanSeen {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly durationMs: number;
  readonly isError: boolean;
  readonly traceId: string;
  readonly spanId: string;
  /** The ids of its parent span and of the spans that it is linked to. */
  readonly parentSpanId?: string | undefined;
  readonly linked: readonly string[];
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links?: readonly { readonly spanId: string }[];
}

interface Wire {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** An OpenTelemetry collector on loopback that keeps what it gets. */
export async function startCollector() {
  const bodies: string[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const parts = (): Wire['resourceSpans'][number][] =>
    bodies.flatMap((body) => (JSON.parse(body) as Wire).resourceSpans);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    paths,
    resources: () => parts().map(({ resource }) => read(resource.attributes)),
    spans: () => parts().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(see))),
  };
}

function see(span: WireSpan): SpanSeen {
  const { name, attributes, startTimeUnixNano, endTimeUnixNano, status, traceId, spanId, parentSpanId, links } = span;
  return {
    name,
    attributes: read(attributes),
    durationMs: Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6,
    isError: status.code === 2,
    traceId,
    spanId,
    parentSpanId,
    linked: (links ?? []).map((link) => link.spanId),
  };
}

function read(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
