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

/** A message that we write to a native member. */
export interface NewEntry {
  readonly from: string;
  readonly text: string;
  readonly summary?: string | undefined;
  readonly color?: string | undefined;
  readonly timestamp: string;
  /** A UUID, by which we find the entry again. */
  readonly id: string;
}

/** An inbox. Entries that Claude Code would drop are left out here; they stay in the file. */
export type InboxReading =
  | { readonly kind: 'read'; readonly entries: readonly NativeEntry[]; readonly dropped: number }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Reads an inbox and waits for a write in progress to finish. A missing inbox is empty. */
export async function readInbox(path: string, { settle }: LockOptions = {}): Promise<InboxReading> {
  return inboxOf(await readSettled(path, settle));
}

/** Parses a reading of an inbox. */
export function inboxOf(reading: FileReading): InboxReading {
  if (reading.kind === 'absent') return { kind: 'read', entries: [], dropped: 0 };
  if (reading.kind === 'unreadable') return { kind: 'unreadable', problem: reading.problem };
  const list = z.array(z.unknown()).safeParse(reading.value).data;
  if (!list) return { kind: 'unreadable', problem: 'is not a list of messages' };
  const entries = list.filter((item): item is NativeEntry => NativeEntry.safeParse(item).success);
  return { kind: 'read', entries, dropped: list.length - entries.length };
}

/** How long to wait for an inbox, and a callback that gets the inode of the new file. */
export interface AppendOptions extends LockOptions {
  readonly wrote?: (inode: bigint) => void;
}

/**
 * Adds a message to an inbox, in the form of the newest version; older ones keep unknown fields. Returns whether it was
 * added: an id that is already in the inbox is not added again.
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
 * Adds several messages in one step: Claude Code finds all or none of them. `without` names waiting entries to remove
 * in the same step. An inbox of more than `KEPT_ENTRIES` loses its read entries. A team that has ended is not written
 * to.
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
  // Claude Code creates the file before it locks it, so that there is something to lock.
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

/** If an inbox has more entries than this, its read ones are removed. */
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

/** Marks entries as read or removes them, according to the era. Entries that arrived in between stay. */
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

/** One change of a whole inbox under its lock. Never writes an inbox that is unreadable. */
async function change(
  path: string,
  options: AppendOptions | undefined,
  edit: (list: unknown[]) => unknown[] | undefined,
): Promise<boolean> {
  checkFolderOf(path);
  // Wait here, outside the lock: the older version loses messages that it sends while an inbox is locked.
  await readSettled(path, options?.settle);
  return underLock(
    path,
    () => {
      const reading = readNow(path);
      if (reading.kind === 'absent') return false;
      const list = reading.kind === 'read' ? reading.value : undefined;
      if (!Array.isArray(list)) {
        const problem = reading.kind === 'unreadable' ? reading.problem : 'is not a list of messages';
        throw new TeamError('corrupt', `${path} ${problem}: Troupe does not change it`);
      }
      const next = edit(list as unknown[]);
      if (next === undefined) return false;
      replaceFile(path, next, reading.kind === 'read' ? reading.mode : 0o644);
      // Still under the lock, so no program that respects it has replaced the file.
      options?.wrote?.(lstatSync(path, { bigint: true }).ino);
      return true;
    },
    options,
  );
}
