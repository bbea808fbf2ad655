// Loaded with `node --import`: gives the code under test a clock, timers and random numbers that one seed decides.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUGS, editsOf } from './bugs.ts';
import { kill } from './processes.ts';
import { scheduler } from './scheduler.ts';

const here = (name: string): string => pathToFileURL(join(import.meta.dirname, name)).href;

/** What stands in for modules that reach the machine. */
const STAND_INS: Readonly<Record<string, string>> = {
  'node:timers/promises': here('stand-ins/timers.ts'),
  'node:crypto': here('stand-ins/crypto.ts'),
  [new URL('../../src/journal/node-sqlite.ts', import.meta.url).href]: here('stand-ins/sqlite.ts'),
  [new URL('../../src/agents/process-table.ts', import.meta.url).href]: here('stand-ins/process-table.ts'),
};

/** A bug of the past, for a run that has to find it. */
const wanted = process.env['TROUPE_SIMULATED_BUG'];
const bug = wanted === undefined ? undefined : BUGS.find(({ name }) => name === wanted);
if (wanted !== undefined && !bug) throw new Error(`There is no bug ${JSON.stringify(wanted)}`);

/** What stands in for modules in one room only. */
const IN_ROOM: readonly { readonly room: string; readonly of: string; readonly by: string }[] = [
  { room: '/src/agents/process.ts', of: 'node:child_process', by: here('stand-ins/child-process.ts') },
  { room: '/src/bridge/', of: 'node:fs', by: here('stand-ins/files.ts') },
  { room: '/src/journal/', of: 'node:fs', by: here('stand-ins/journal-files.ts') },
  { room: '/src/journal/', of: 'node:fs/promises', by: here('stand-ins/files-promises.ts') },
  { room: '/src/journal/', of: 'node:net', by: here('stand-ins/net.ts') },
  { room: '/src/journal/', of: 'node:zlib', by: here('stand-ins/zlib.ts') },
  { room: '/src/journal/', of: '@nats-io/transport-node', by: here('stand-ins/nats.ts') },
];

function standIn(specifier: string, { url, parent }: { url: string; parent: string }): string | undefined {
  if (parent.includes('/test/simulator/')) return undefined;
  return IN_ROOM.find(({ room, of }) => of === specifier && parent.includes(room))?.by ?? STAND_INS[url];
}

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const parent = context.parentURL;
    const url = parent === undefined ? undefined : standIn(specifier, { url: found.url, parent });
    return url === undefined ? found : { ...found, url, format: 'module-typescript', shortCircuit: true };
  },
  load(url, context, next) {
    const loaded = next(url, context);
    const edits = bug ? editsOf(bug).filter(({ file }) => url.endsWith(`/src/${file}`)) : [];
    if (edits.length === 0) return loaded;
    let source = readFileSync(new URL(url), 'utf8');
    for (const { file, now, before } of edits) {
      if (!source.includes(now)) throw new Error(`${file} has no ${JSON.stringify(now)} any more`);
      source = source.replace(now, () => before);
    }
    return { ...loaded, source };
  },
});

const RealDate = Date;

// The library of NATS makes an error for each request, in case it fails: their stacks took a sixth of the time.
Error.stackTraceLimit = 4;

/** The wall clock of the machine that asks. */
class SimulatedDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    super(...((args.length === 0 ? [scheduler.wall()] : args) as [number]));
  }

  static override now(): number {
    return scheduler.wall();
  }
}

/** What `setTimeout` and its like return in Node. */
class SimulatedTimer {
  readonly #delay: number | undefined;
  readonly #run: () => void;
  #step: { isOff: boolean };

  constructor(run: () => void, ms: number, isRepeated: boolean) {
    const delay = Math.max(1, ms || 1);
    this.#delay = isRepeated ? delay : undefined;
    this.#run = run;
    this.#step = scheduler.plan(delay, () => this.#fire());
  }

  #fire(): void {
    if (this.#delay !== undefined) this.#step = scheduler.plan(this.#delay, () => this.#fire());
    this.#run();
  }

  end(): void {
    this.#step.isOff = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

type Work = (...args: unknown[]) => void;
const clear = (timer: unknown): void => {
  if (timer instanceof SimulatedTimer) timer.end();
  else if (timer && typeof timer === 'object' && 'isOff' in timer) timer.isOff = true;
};
const random = (): number => scheduler.random('platform').next();

Object.assign(globalThis, {
  Date: SimulatedDate,
  setTimeout: (work: Work, ms = 0, ...args: unknown[]) => new SimulatedTimer(() => work(...args), ms, false),
  setInterval: (work: Work, ms = 0, ...args: unknown[]) => new SimulatedTimer(() => work(...args), ms, true),
  setImmediate: (work: Work, ...args: unknown[]) => scheduler.plan(0, () => work(...args)),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
});
Math.random = random;
// Its number is in the names and the contents of files.
Object.defineProperty(process, 'pid', { get: () => scheduler.owner().pid });
process.kill = (pid, signal) => kill(pid, signal as NodeJS.Signals | 0);
Object.defineProperty(globalThis, 'performance', {
  value: { now: () => scheduler.now, timeOrigin: RealDate.parse('2026-01-01T00:00:00Z'), mark() {}, measure() {} },
});
// Without `getRandomValues` the library of NATS takes random numbers from `Math.random`.
Object.defineProperty(globalThis, 'crypto', { value: { randomUUID: () => uuid(random), subtle: crypto.subtle } });
AbortSignal.timeout = (ms) => {
  const late = new AbortController();
  setTimeout(() => late.abort(new DOMException('The operation timed out', 'TimeoutError')), ms);
  return late.signal;
};

/** A UUID from random numbers. */
export function uuid(next: () => number): string {
  const hex = (length: number): string => Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}
