import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { TeamState } from '../core/state.ts';
import type { StoredTaskStatus } from '../core/task.ts';
import { quote } from '../core/text.ts';
import type { Journal } from '../journal/journal.ts';
import { Ledger } from '../ledger/ledger.ts';
import { BRIDGE_MARK } from './format.ts';
import { nativePaths } from './layout.ts';
import { whyNotOwn } from './root.ts';

/** What would change if a team joined a native one. */
export interface Preview {
  readonly native: string;
  readonly teamId: string;
  /** Whether the team here would be created. */
  readonly isNew: boolean;
  /** The native files that would be written, and what would change in each. */
  readonly files: readonly { readonly path: string; readonly changes: readonly string[] }[];
  /** The native members that would join the team here. */
  readonly members: readonly string[];
  /** The tasks that would be new here, or would have another status or holder. */
  readonly tasks: readonly TaskChange[];
  /** How many messages the team here would get. */
  readonly messages: number;
  readonly notices: readonly string[];
}

interface TaskChange {
  readonly id: string;
  readonly title: string;
  readonly status: StoredTaskStatus;
  readonly assigneeId: string | undefined;
  /** Its status and holder here before; absent for a new task. */
  readonly before: { readonly status: StoredTaskStatus; readonly assigneeId: string | undefined } | undefined;
}

/** A bridge, as far as a rehearsal needs it. */
interface Rehearsed {
  join(name: string, options: { as: string }): Promise<{ readonly notices: readonly string[] }>;
  settled(teamId: string): Promise<void>;
  close(): Promise<void>;
}

/** What is joined, and what a rehearsal is made of. */
export interface PreviewOptions {
  readonly ledger: Ledger;
  readonly root: string;
  /** The directory of the native team. */
  readonly native: string;
  readonly teamId: string;
  /** An empty journal in memory. */
  readonly journal: Journal;
  /** A bridge to a copy of the native files. */
  readonly open: (copy: { readonly ledger: Ledger; readonly root: string; readonly trash: string }) => Rehearsed;
}

/**
 * Joins a copy of the native team with a copy of ours, and compares. So the preview cannot differ from what a join does:
 * it is done by the same code.
 */
export async function previewJoin({ ledger, root, native, teamId, journal, open }: PreviewOptions): Promise<Preview> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-preview-'));
  const copy = join(folder, 'claude');
  for await (const { seq, events } of ledger.read(teamId, 0)) await journal.append(teamId, seq - 1, events);
  const ours = new Ledger(journal, { exclusive: true });
  const rehearsed = open({ ledger: ours, root: copy, trash: join(folder, 'trash') });
  try {
    copyTeam(root, copy, native);
    const before = readAll(copy, native);
    const here = await ours.view(teamId, summaryOf);
    const { notices } = await rehearsed.join(native, { as: teamId });
    // The second comparison follows what the first one wrote.
    await rehearsed.settled(teamId);
    await rehearsed.settled(teamId);
    const after = readAll(copy, native);
    const there = await ours.view(teamId, summaryOf);
    return {
      native,
      teamId,
      isNew: !here.exists,
      files: [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
        const changes = changesOf(path, before.get(path), after.get(path));
        return changes.length > 0 ? [{ path: join(root, path), changes }] : [];
      }),
      members: [...there.members].filter((id) => !here.members.has(id)),
      tasks: [...there.tasks.values()].flatMap((task): TaskChange[] => {
        const known = here.tasks.get(task.id);
        const isSame = known?.status === task.status && known.assigneeId === task.assigneeId;
        return isSame ? [] : [{ ...task, before: known && { status: known.status, assigneeId: known.assigneeId } }];
      }),
      messages: there.messages - here.messages,
      notices,
    };
  } finally {
    await rehearsed.close();
    await ours.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Summary {
  readonly exists: boolean;
  readonly members: ReadonlySet<string>;
  readonly tasks: ReadonlyMap<string, Omit<TaskChange, 'before'>>;
  readonly messages: number;
}

/** Copied, because the state changes in place. */
function summaryOf({ team, members, tasks, messages }: TeamState): Summary {
  return {
    exists: team !== undefined,
    members: new Set([...members.values()].flatMap(({ id, status }) => (status === 'stopped' ? [] : [id]))),
    tasks: new Map(
      [...tasks.values()].map(({ id, title, status, assigneeId }) => [id, { id, title, status, assigneeId }]),
    ),
    messages: messages.size,
  };
}

/** Copies regular files only. A lock is held by somebody else, and means nothing for a copy. */
function copyTeam(root: string, copy: string, native: string): void {
  for (const kind of ['teams', 'tasks']) {
    const from = join(root, kind, native);
    mkdirSync(join(copy, kind), { recursive: true, mode: 0o700 });
    if (whyNotOwn(from) !== undefined || !lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) continue;
    cpSync(from, join(copy, kind, native), {
      recursive: true,
      preserveTimestamps: true,
      filter(path) {
        const found = lstatSync(path, { throwIfNoEntry: false });
        return found?.isFile() === true || (found?.isDirectory() === true && !path.endsWith('.lock'));
      },
    });
  }
}

/** The texts of all files of a team by their paths in the root. */
function readAll(root: string, native: string): Map<string, string> {
  const { team, tasks } = nativePaths(root, native);
  const files = [team, tasks].flatMap((folder) => {
    if (!lstatSync(folder, { throwIfNoEntry: false })) return [];
    return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((one) =>
      one.isFile() ? [join(one.parentPath, one.name)] : [],
    );
  });
  return new Map(files.map((path) => [relative(root, path), readFileSync(path, 'utf8')]));
}

type Json = Readonly<Record<string, unknown>>;

/** What changes in a file, in words. Files without content only mark something. */
function changesOf(path: string, before: string | undefined, after: string | undefined): string[] {
  if (before === after || (!before && !after)) return [];
  if (after === undefined) return ['it is moved to the trash'];
  const [was, is] = [parseJson(before), parseJson(after)];
  if (path.endsWith('config.json')) return configChanges(was, is);
  if (Array.isArray(is)) return [`${is.length - (Array.isArray(was) ? was.length : 0)} messages are added`];
  if (!isObject(is)) return ['it is written'];
  if (!isObject(was)) return [`new: ${word(is['subject'])}`];
  const fields = ['status', 'owner', 'subject', 'description', 'activeForm', 'blocks', 'blockedBy'];
  const changed = fields.filter((field) => JSON.stringify(was[field]) !== JSON.stringify(is[field]));
  if (changed.length === 0) return ['only the mark of Troupe'];
  return changed.map((field) => `${field}: ${word(was[field])} becomes ${word(is[field])}`);
}

function configChanges(was: unknown, is: unknown): string[] {
  const marked = isObject(is) && isObject(is['metadata']) && BRIDGE_MARK in is['metadata'];
  const [old, now] = [namesIn(was), namesIn(is)];
  return [
    ...(marked ? ['the mark of Troupe says which daemon synchronizes it'] : []),
    ...now.filter((name) => !old.includes(name)).map((name) => `member ${name} is added`),
    ...old.filter((name) => !now.includes(name)).map((name) => `member ${name} is removed`),
  ];
}

function namesIn(config: unknown): string[] {
  const members = isObject(config) ? config['members'] : undefined;
  return Array.isArray(members) ? members.map((member: Json) => String(member['name'])) : [];
}

function word(value: unknown): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return 'nothing';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? quote(value.slice(0, 100)) : JSON.stringify(value);
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
