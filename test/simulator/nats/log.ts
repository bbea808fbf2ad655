import type { StreamConfig } from '@nats-io/jetstream';
import { isMatch } from './protocol.ts';

/** A message of a stream. */
export interface Kept {
  readonly seq: number;
  readonly subject: string;
  readonly headers: Buffer | undefined;
  readonly data: Buffer;
  readonly at: number;
}

const NS_PER_MS = 1_000_000;

/** The messages of a stream, as one server has them. */
export class Log {
  lastSeq = 0;
  bytes = 0;
  readonly #kept = new Map<number, Kept>();
  readonly #lastOf = new Map<string, number>();

  /** As it is now, whatever follows. */
  copy(): Log {
    const copy = new Log();
    Object.assign(copy, { lastSeq: this.lastSeq, bytes: this.bytes });
    for (const [seq, one] of this.#kept) copy.#kept.set(seq, one);
    for (const [subject, seq] of this.#lastOf) copy.#lastOf.set(subject, seq);
    return copy;
  }

  add(message: Omit<Kept, 'seq'>, { max_msgs_per_subject: most = -1 }: Partial<StreamConfig>): Kept {
    const kept = { ...message, seq: ++this.lastSeq };
    const before = this.#lastOf.get(message.subject);
    if (most === 1 && before !== undefined) this.#remove(before);
    this.#kept.set(kept.seq, kept);
    this.#lastOf.set(message.subject, kept.seq);
    this.bytes += message.data.length;
    return kept;
  }

  /** Removes what is older than the stream allows. */
  expire({ max_age: age = 0 }: Partial<StreamConfig>, now: number): void {
    if (age <= 0) return;
    for (const { seq, at } of this.#kept.values()) {
      if (now - at < age / NS_PER_MS) return;
      this.#remove(seq);
    }
  }

  purge(filter = '>', keep = 0): number {
    const gone = [...this.#kept.values()].filter(({ subject }) => isMatch(filter, subject)).map(({ seq }) => seq);
    for (const seq of gone.slice(0, gone.length - keep)) this.#remove(seq);
    return Math.max(0, gone.length - keep);
  }

  get(seq: number): Kept | undefined {
    return this.#kept.get(seq);
  }

  last(pattern: string): Kept | undefined {
    const seqs = /[*>]/.test(pattern)
      ? [...this.#lastOf].filter(([subject]) => isMatch(pattern, subject)).map(([, seq]) => seq)
      : [this.#lastOf.get(pattern) ?? 0];
    return this.#kept.get(Math.max(0, ...seqs));
  }

  /** The first message from a place on. */
  next(from: number, pattern = '>'): Kept | undefined {
    for (let seq = Math.max(from, this.firstSeq); seq <= this.lastSeq; seq++) {
      const kept = this.#kept.get(seq);
      if (kept && isMatch(pattern, kept.subject)) return kept;
    }
    return undefined;
  }

  /** How many messages there are from a place on. */
  pending(from: number, pattern = '>'): number {
    let count = 0;
    for (const { seq, subject } of this.#kept.values()) if (seq >= from && isMatch(pattern, subject)) count++;
    return count;
  }

  get firstSeq(): number {
    return this.#kept.keys().next().value ?? this.lastSeq + 1;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** The last message of each subject. */
  lasts(pattern: string): Kept[] {
    const seqs = [...this.#lastOf].filter(([subject]) => isMatch(pattern, subject)).map(([, seq]) => seq);
    return seqs.sort((a, b) => a - b).flatMap((seq) => this.#kept.get(seq) ?? []);
  }

  #remove(seq: number): void {
    const kept = this.#kept.get(seq);
    if (!kept) return;
    this.#kept.delete(seq);
    this.bytes -= kept.data.length;
    if (this.#lastOf.get(kept.subject) !== seq) return;
    const before = [...this.#kept.values()].findLast(({ subject }) => subject === kept.subject);
    if (before) this.#lastOf.set(kept.subject, before.seq);
    else this.#lastOf.delete(kept.subject);
  }
}
