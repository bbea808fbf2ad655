import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Seq } from './journal.ts';

/** How far each team had come; `E` is what a kind of journal notes about a team. */
export type Ends<E> = ReadonlyMap<string, E>;

/** A team that the mark has, and the journal has not, or only up to batch `now`. */
export interface Lost {
  readonly team: string;
  readonly seq: Seq;
  /** 0 if the team is gone. */
  readonly now: Seq;
}

/** A mark that this process alone writes. */
export interface Mark<E> {
  /** A batch is durable. */
  reached(team: string, end: E): void;
  /** The team is about to be dropped. */
  forget(team: string): void;
  close(): void;
}

/** How many teams a message names. */
const NAMED = 3;

/**
 * Keeps the mark of a journal: a file that says how far each team had come. A journal that was emptied looks like a new
 * one, and only something outside of it can show what it had. The mark never runs ahead: it has only what is durable,
 * and a team leaves it before it leaves the journal. Each write is another flush, so it comes at intervals and not with
 * each commit. `of` names the journal, if the file may be left from another one.
 */
export function keepMark<E>(
  path: string,
  present: Ends<E>,
  { everyMs, of }: { everyMs: number; of?: string },
): Mark<E> {
  const ends = new Map(present);
  const textNow = (): string => textOf(ends, of);
  let timer: NodeJS.Timeout | undefined;
  let behind: Promise<void> | undefined;
  /** Grows with each write, so that an older one that is still under way does not replace a newer one. */
  let turn = 0;
  if (textNow() !== readText(path)) write();

  function write(): void {
    turn++;
    // An old mark would miss a team that was dropped. No mark misses nothing.
    if (!writeMark(path, textNow())) removeMark(path);
  }

  /** Flushed by another thread: commits go on meanwhile. */
  async function writeBehind(): Promise<void> {
    const mine = ++turn;
    const draft = `${path}.${mine % 2}.tmp`;
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(textNow());
        await file.datasync();
      } finally {
        await file.close();
      }
      if (mine === turn) renameSync(draft, path);
      else rmSync(draft, { force: true });
    } catch {
      // The next commit tries again. Until then the mark is older, and notices less.
    }
    behind = undefined;
  }

  return {
    reached(team, end) {
      ends.set(team, end);
      timer ??= setTimeout(() => {
        timer = undefined;
        behind = writeBehind();
      }, everyMs).unref();
    },
    forget(team) {
      if (ends.delete(team)) write();
    },
    close() {
      if (timer !== undefined || behind !== undefined) write();
      clearTimeout(timer);
    },
  };
}

/** Forgets a team for a process that shares the journal with others and keeps no mark. */
export function forgetInMark(path: string, team: string): void {
  const ends = new Map(readMark(path));
  if (ends.delete(team) && !writeMark(path, textOf(ends, undefined))) removeMark(path);
}

/** What the mark says, unchecked. A mark that is missing, unreadable or of another journal says nothing. */
export function readMark(path: string, of?: string): Ends<unknown> {
  try {
    const { journal, teams } = JSON.parse(readText(path)) as { journal?: unknown; teams: Record<string, unknown> };
    return new Map(journal === of ? Object.entries(teams) : []);
  } catch {
    return new Map();
  }
}

/** Removes the mark: whatever the journal has now is right. */
export function removeMark(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** The teams that have lost batches, in words; at most three by name. */
export function nameLost(lost: readonly Lost[]): string {
  const named = lost.slice(0, NAMED).map(({ team, seq, now }) => {
    const rest = now === 0 ? 'is gone' : `ends at batch ${now}`;
    return `team ${JSON.stringify(team)} had ${seq} ${seq === 1 ? 'batch' : 'batches'} and ${rest}`;
  });
  return [...named, ...(lost.length > NAMED ? [`and ${lost.length - NAMED} more teams`] : [])].join('; ');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Writes the mark, and flushes its name too. Returns false if that failed: the journal works without it. */
function writeMark(path: string, text: string): boolean {
  const draft = `${path}.tmp`;
  try {
    const file = openSync(draft, 'w', 0o600);
    try {
      writeFileSync(file, text);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    const folder = openSync(dirname(path), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    return true;
  } catch {
    return false;
  }
}

function textOf(ends: Ends<unknown>, journal: string | undefined): string {
  return `${JSON.stringify({ journal, teams: Object.fromEntries(ends) })}\n`;
}
