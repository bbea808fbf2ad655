import { expect, onTestFinished } from 'vitest';
import type { TeamEvent } from '../../../src/core/event.ts';
import type { Journal, Seq, Stored } from '../../../src/journal/journal.ts';

/** Opens two handles on a new store; they are closed when the test ends. */
export type OpenStore = () => Promise<{ journal: Journal; other: Journal }>;

/** A minimal event; a journal looks no further. */
export function note(text: string): TeamEvent {
  return { type: 'message:sent', text } as unknown as TeamEvent;
}

/** The text of a `note`. */
export function textOf(event: TeamEvent | undefined): string {
  return (event as unknown as { text: string }).text;
}

/** Matches a `TeamError` with this code. */
export function error(code: string): object {
  return expect.objectContaining({ name: 'TeamError', code }) as object;
}

/** Appends batches up to number `end`, each with its number as text. */
export async function fill(journal: Journal, team: string, end: Seq, from: Seq = 0): Promise<void> {
  for (let seq = from; seq < end; seq++) await journal.append(team, seq, [note(String(seq + 1))]);
}

export async function collect(batches: AsyncIterable<Stored>): Promise<Stored[]> {
  return Array.fromAsync(batches);
}

/** The texts of all events, batch after batch. */
export async function texts(batches: AsyncIterable<Stored>): Promise<string[]> {
  return (await collect(batches)).flatMap(({ events }) => events.map(textOf));
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Follows a team in the background until the test ends. */
export function startFollowing(journal: Journal, team: string, after: Seq) {
  const abort = new AbortController();
  const seen: Seq[] = [];
  let wake = () => {};
  const ended = (async () => {
    for await (const { seq } of journal.follow(team, after, abort.signal)) {
      seen.push(seq);
      wake();
    }
  })();
  onTestFinished(() => abort.abort());
  return {
    after,
    abort,
    seen,
    ended,
    /** Resolves when it has seen `count` batches. */
    until: async (count: number): Promise<void> => {
      while (seen.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
