/*
 * Metrics in Prometheus' text format, https://prometheus.io/docs/instrumenting/exposition_formats. Written by hand:
 * prom-client takes 60 ms to load, a fifth of the daemon's start. It counts a call in 0.4 us, 40 times as long as this.
 */

/** The values of a metric's labels, in the order of their names. */
type Values = readonly string[];

/** The value of a gauge: a number, or one for each combination of label values. */
type Reading = number | readonly (readonly [values: Values, value: number])[];

interface Metric {
  readonly name: string;
  lines(): string[];
}

/** Counts up. */
export interface Counter {
  add(count: number, ...values: string[]): void;
}

/** Counts values by size. */
export interface Histogram {
  observe(value: number): void;
}

/** The fields of every metric. */
interface Description {
  readonly name: string;
  readonly help: string;
}

/** The metrics of one process. Label values come from fixed sets, such as operation names, never from callers' text. */
export class Metrics {
  readonly #metrics: Metric[] = [];

  counter({ name, help, labels = [] }: Description & { readonly labels?: readonly string[] }): Counter {
    const counts = new Map<string, { values: Values; count: number }>();
    this.#metrics.push({
      name,
      lines: () => [
        ...head(name, help, 'counter'),
        ...[...counts.values()].map(({ values, count }) => line(name, labels, values, count)),
      ],
    });
    if (labels.length === 0) counts.set('', { values: [], count: 0 });
    return {
      add(count, ...values) {
        const key = keyOf(values);
        const entry = counts.get(key);
        if (entry) entry.count += count;
        else counts.set(key, { values, count });
      },
    };
  }

  /** Read at each scrape. */
  gauge(description: Description & { readonly labels?: readonly string[] }, read: () => Reading): void {
    this.#read('gauge', description, read);
  }

  /** A counter that is kept elsewhere; read at each scrape. */
  total(description: Description, read: () => number): void {
    this.#read('counter', description, read);
  }

  #read(
    type: 'gauge' | 'counter',
    { name, help, labels = [] }: Description & { readonly labels?: readonly string[] },
    read: () => Reading,
  ): void {
    this.#metrics.push({
      name,
      lines: () => {
        const reading = read();
        const rows = typeof reading === 'number' ? [[[], reading] as const] : reading;
        return [...head(name, help, type), ...rows.map(([values, value]) => line(name, labels, values, value))];
      },
    });
  }

  /** `bounds` are the upper ends of the buckets, ascending. */
  histogram({ name, help, bounds }: Description & { readonly bounds: readonly number[] }): Histogram {
    const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
    let sum = 0;
    this.#metrics.push({
      name,
      lines: () => {
        let count = 0;
        const lines = [...bounds.map(String), '+Inf'].map((bound, index) => {
          count += buckets[index] ?? 0;
          return line(`${name}_bucket`, ['le'], [bound], count);
        });
        return [
          ...head(name, help, 'histogram'),
          ...lines,
          line(`${name}_sum`, [], [], sum),
          line(`${name}_count`, [], [], count),
        ];
      },
    });
    return {
      observe(value) {
        let index = 0;
        while (index < bounds.length && value > (bounds[index] as number)) index++;
        buckets[index] = (buckets[index] as number) + 1;
        sum += value;
      },
    };
  }

  /** All metrics in Prometheus' format. */
  expose(): string {
    return `${this.#metrics.flatMap((metric) => metric.lines()).join('\n')}\n`;
  }
}

/** Every call is counted by two labels: `join` would take as long as everything else together. */
function keyOf(values: Values): string {
  return values.length === 2 ? `${values[0]}\0${values[1]}` : values.length === 1 ? `${values[0]}` : values.join('\0');
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function line(name: string, labels: readonly string[], values: Values, value: number): string {
  const pairs = labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`);
  return pairs.length === 0 ? `${name} ${value}` : `${name}{${pairs.join(',')}} ${value}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
