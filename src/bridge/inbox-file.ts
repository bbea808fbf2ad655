import { lstatSync } from 'node:fs';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { BRIDGE_MARK, NativeEntry } from './format.ts';
import type { Era } from './format.ts';
import { isThere, readNow, readSettled, replaceFile } from './json-file.ts';
import type { FileReading } from './json-file.ts';
import type { NativePaths } from './layout.ts';
import { underLock } from './lock.ts';
import type { LockOptions } from './lock.ts';
import { nativeGone, removeRemains } from './remains.ts';
import { checkFolderOf, makeFile, makeFolder } from './root.ts';

/** What we say when we write to a native member. */
export interface NewEntry {
  readonly from: string;
  readonly text: string;
  readonly summary?: string | undefined;
  readonly color?: string | undefined;
  readonly timestamp: string;
  /** A UUID, by which it is found again. */
  readonly id: string;
}

/** An inbox as it is. Entries that the program would drop are left out; they stay in the file. */
export type InboxReading =
  | { readonly kind: 'read'; readonly entries: readonly NativeEntry[]; readonly dropped: number }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Reads an inbox, waiting out a write that is under way; one that is not there is empty. */
export async function readInbox(path: string, { settle }: LockOptions = {}): Promise<InboxReading> {
  return inboxOf(await readSettled(path, settle));
}

/** What a reading of an inbox holds. */
export function inboxOf(reading: FileReading): InboxReading {
  if (reading.kind === 'absent') return { kind: 'read', entries: [], dropped: 0 };
  if (reading.kind === 'unreadable') return { kind: 'unreadable', problem: reading.problem };
  const list = z.array(z.unknown()).safeParse(reading.value).data;
  if (!list) return { kind: 'unreadable', problem: 'is not a list of messages' };
  const entries = list.filter((item): item is NativeEntry => NativeEntry.safeParse(item).success);
  return { kind: 'read', entries, dropped: list.length - entries.length };
}

/** How long to wait for an inbox, and who hears which file took its place. */
export interface AppendOptions extends LockOptions {
  readonly wrote?: (inode: bigint) => void;
}

/**
 * Adds a message to an inbox, in the form of the newest version; older ones keep what they do not know. Says whether it was added:
 * one whose id is there already is not.
 */
export async function appendEntry(
  paths: NativePaths,
  to: string,
  entry: NewEntry,
  options?: AppendOptions,
): Promise<boolean> {
  return appendEntries(paths, to, [entry], options);
}

/**
 * The same for several, in one step: the program finds all or none of them. `without` says which of those that wait are taken out
 * with it. Of an inbox that keeps what was read only so much is kept. A team that has ended is not written to.
 */
export async function appendEntries(
  paths: NativePaths,
  to: string,
  entries: readonly NewEntry[],
  options: AppendOptions & { without?: (entry: NativeEntry) => boolean } = {},
): Promise<boolean> {
  const path = paths.inbox(to);
  checkFolderOf(path);
  if (!isThere(paths.config)) throw nativeGone(paths);
  makeFolder(paths.inboxes);
  // The program makes the file before it locks it, so that there is something to lock.
  makeFile(path, '[]');
  const isChanged = await change(path, options, (list) => {
    const isKnown = (id: string): boolean => list.some((item) => (item as { msg_id?: unknown } | null)?.msg_id === id);
    const added = entries.filter(({ id }) => !isKnown(id)).map(formOf);
    const kept = options.without ? list.filter((item) => !isUnread(item, options.without)) : list;
    if (added.length === 0 && kept.length === list.length) return undefined;
    const surplus = kept.length > KEPT_ENTRIES ? kept.filter((item) => !isRead(item)) : kept;
    return [...surplus, ...added];
  });
  if (isThere(paths.config)) return isChanged;
  removeRemains(paths);
  throw nativeGone(paths);
}

/** More than this many entries, and those that were read go. */
const KEPT_ENTRIES = 200;

function formOf({ id, ...rest }: NewEntry): object {
  const written = { ...rest, msgV: 1, msg_id: id, type: 'message', via: BRIDGE_MARK, read: false };
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
}

function isUnread(item: unknown, which: ((entry: NativeEntry) => boolean) | undefined): boolean {
  const entry = NativeEntry.safeParse(item).data;
  return entry !== undefined && entry.read !== true && (which?.(entry) ?? true);
}

function isRead(item: unknown): boolean {
  return NativeEntry.safeParse(item).data?.read === true;
}

/** Marks entries as read, or takes them out, as the era has it. What came in between stays. */
export function takeEntries(
  path: string,
  isTaken: (entry: NativeEntry) => boolean,
  options: LockOptions & { era: Era },
): Promise<boolean> {
  return change(path, options, (list) => {
    const taken = (item: unknown): boolean => isUnread(item, isTaken);
    if (!list.some(taken)) return undefined;
    if (options.era === 'removes-read') return list.filter((item) => !taken(item));
    return list.map((item) => (taken(item) ? { ...(item as object), read: true } : item));
  });
}

/** One change of a whole inbox under its lock. An inbox that cannot be read is never written. */
async function change(
  path: string,
  options: AppendOptions | undefined,
  edit: (list: unknown[]) => unknown[] | undefined,
): Promise<boolean> {
  checkFolderOf(path);
  // Waiting happens here, outside the lock: the older version loses what it sends while an inbox is locked.
  await readSettled(path, options?.settle);
  return underLock(
    path,
    () => {
      const reading = readNow(path);
      if (reading.kind === 'absent') return false;
      const list = reading.kind === 'read' ? reading.value : undefined;
      if (!Array.isArray(list)) {
        const problem = reading.kind === 'unreadable' ? reading.problem : 'is not a list of messages';
        throw new TeamError('corrupt', `${path} ${problem}: it is left as it is`);
      }
      const next = edit(list as unknown[]);
      if (next === undefined) return false;
      replaceFile(path, next, reading.kind === 'read' ? reading.mode : 0o644);
      // Still under the lock: nobody who keeps to it has put another one there.
      options?.wrote?.(lstatSync(path, { bigint: true }).ino);
      return true;
    },
    options,
  );
}
