import { newWorker } from '../parts/worker.ts';
import type { Token } from './code.tsx';
import { LONG_LINE } from './code.tsx';
// oxlint-disable-next-line import/default -- Vite makes one, the address of the built file
import workerUrl from './colour-worker.ts?worker&url';
import type { ColourAnswer, ColourRequest } from './colour-worker.ts';
import { languageOf } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { linesIn } from './rows.ts';
import type { Line } from './rows.ts';

/** Lines that are coloured together: enough to see comments of several lines, few enough to be soon there. */
const CHUNK = 400;
/** A text that takes longer stays plain: some texts make a pattern take minutes. Most take 10 ms. */
const PATIENCE_MS = 10_000;

/** Lines of one file that want colours. */
interface Job {
  readonly language: LanguageName;
  readonly old: readonly Line[];
  readonly fresh: readonly Line[];
}

/**
 * The colours of lines, found in a worker, so that scrolling does not wait for them. What was asked for last is done
 * first: somebody looks at it. A line without colours is shown plain.
 */
export class Colours {
  #worker: Worker | undefined;
  #jobs: Job[] = [];
  #running: { readonly job: Job; timer?: ReturnType<typeof setTimeout> } | undefined;
  #version = 0;
  #lastId = 0;
  readonly #asked = new WeakMap<Line['hunk'], Set<number>>();
  readonly #old = new WeakMap<Line, readonly Token[]>();
  readonly #fresh = new WeakMap<Line, readonly Token[]>();
  readonly #listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows when lines got colours. */
  get version(): number {
    return this.#version;
  }

  /** The parts of a line; `old` as it was before. */
  of(line: Line, side: 'old' | 'fresh' = line.sign === '-' ? 'old' : 'fresh'): readonly Token[] | undefined {
    return (side === 'old' ? this.#old : this.#fresh).get(line);
  }

  /** Asks for the colours of a line and of those around it. */
  want(path: string, { hunk, place }: Line): void {
    const chunk = Math.floor(place / CHUNK);
    const asked = this.#asked.get(hunk) ?? new Set();
    this.#asked.set(hunk, asked);
    if (asked.has(chunk)) return;
    asked.add(chunk);
    const language = languageOf(path);
    if (language === undefined) return;
    const lines = linesIn(hunk).slice(chunk * CHUNK, (chunk + 1) * CHUNK);
    this.#jobs.push({
      language,
      old: lines.filter(({ old }) => old !== undefined),
      fresh: lines.filter(({ fresh }) => fresh !== undefined),
    });
    this.#next();
  }

  close(): void {
    clearTimeout(this.#running?.timer);
    this.#worker?.terminate();
    this.#jobs = [];
  }

  #next(): void {
    if (this.#running) return;
    const job = this.#jobs.pop();
    if (!job) return;
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const request: ColourRequest = { id, language: job.language, texts: [textOf(job.old), textOf(job.fresh)] };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(request);
    this.#running = { job };
  }

  #start(): Worker {
    const worker = newWorker(workerUrl);
    worker.addEventListener('message', ({ data }: MessageEvent<ColourAnswer>) => {
      if (!this.#running || data.id !== this.#lastId) return;
      // Loading the worker and the language takes as long as it takes.
      if (data.lines === undefined) {
        this.#running.timer = setTimeout(() => this.#giveUp(), PATIENCE_MS);
        return;
      }
      const { job, timer } = this.#running;
      clearTimeout(timer);
      this.#running = undefined;
      const [old = [], fresh = []] = data.lines;
      for (const [i, line] of job.old.entries()) if (old[i]) this.#old.set(line, old[i]);
      for (const [i, line] of job.fresh.entries()) if (fresh[i]) this.#fresh.set(line, fresh[i]);
      this.#version++;
      for (const listener of this.#listeners) listener();
      this.#next();
    });
    // Its file could not be loaded, for example from a newer daemon: the page works without colours.
    worker.addEventListener('error', () => this.#giveUp());
    return worker;
  }

  /** Leaves a text plain. */
  #giveUp(): void {
    clearTimeout(this.#running?.timer);
    this.#running = undefined;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#next();
  }
}

function textOf(lines: readonly Line[]): string {
  return lines.map(({ text }) => text.slice(0, LONG_LINE)).join('\n');
}
