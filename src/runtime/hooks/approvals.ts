import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { HookConfig } from '../../core/hook.ts';
import { sandboxOf } from '../../core/sandbox.ts';
import type { Sandbox } from '../../core/sandbox.ts';
import type { TeamSetup } from '../../core/team-work.ts';
import { joinSome } from '../../core/text.ts';
import { replacePrivateFile } from '../private-file.ts';
import { realPath } from '../team-file/place.ts';
import { contentOf, filesOfHook, filesOfSetup, isWithin, scriptsOf } from './hook-files.ts';
import type { HookText } from './hook-files.ts';

/** The hooks and agents from checkouts that the user approved: by content, so that any change asks again. */
export interface Approvals {
  has(hash: string): boolean;
  /** Records an approval, with the files that decided what was approved. */
  add(hash: string, what: string, folder?: string, files?: readonly string[]): void;
  /** Whether other content of the same hook or agent was approved before. */
  knew(what: string, folder?: string): boolean;
  /** Those of these files that are not as they were when the same hook or agent was last approved. */
  changed(what: string, folder: string, files: readonly string[]): string[];
}

interface Approval {
  readonly what: string;
  readonly folder?: string | undefined;
  readonly at: string;
  /** The hashes of its files, by path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** Keeps approvals in a file of the state directory. */
export function openApprovals(path: string): Approvals {
  // Read each time: a person may have approved in another process.
  const read = (): Record<string, Approval> => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Approval>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
  };
  return {
    has: (hash) => Object.hasOwn(read(), hash),
    add(hash, what, folder, files) {
      const hashes = files && Object.fromEntries(files.map((file) => [file, digestPart(file)]));
      const approval: Approval = { what, folder, at: new Date().toISOString(), files: hashes };
      replacePrivateFile(path, JSON.stringify({ ...read(), [hash]: approval }, null, 2));
    },
    knew: (what, folder) => Object.values(read()).some((one) => one.what === what && one.folder === folder),
    changed(what, folder, files) {
      const same = Object.values(read()).filter((one) => one.what === what && one.folder === folder && one.files);
      const last = same.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1)?.files;
      return last ? files.filter((file) => last[file] !== digestPart(file)) : [];
    },
  };
}

/** The folder for which something was approved. */
export interface ApprovedFolder {
  readonly approvedIn?: string;
  /** Without links. Only needed if the folder is on another machine. */
  readonly realName?: string | undefined;
}

/**
 * What an approval covers: command, executor, folder, the names of our variables that it sees, and every file that
 * decides what it does. In a workspace the files are read in `cwd`, and count as those at the same places of the
 * approved folder: so one approval holds in every workspace of a project, as long as the content is the same. The
 * approved folder need not exist, if its real name is known: a workspace may be on another machine.
 */
export function hashHook(
  hook: HookText & Pick<HookConfig, 'env' | 'sandbox'>,
  cwd: string,
  { approvedIn = cwd, realName = realPath(approvedIn) }: ApprovedFolder = {},
): string {
  const { command, executor, env = [], sandbox } = hook;
  const files = placedIn(approvedIn, cwd, filesOfHook(hook, cwd));
  return hashAll([command, executor, env, realName, digestFiles(files), ...boxOf(sandbox)]);
}

/** The same of a command that makes workspaces ready. */
export function hashSetup(
  { command, env = [], sandbox }: Pick<TeamSetup, 'command' | 'env' | 'sandbox'>,
  cwd: string,
  approvedIn = cwd,
): string {
  const files = placedIn(approvedIn, cwd, filesOfSetup(command, cwd));
  return hashAll(['setup', command, env, realPath(approvedIn), digestFiles(files), ...boxOf(sandbox)]);
}

/** A sandbox is part of what is approved: without it, or with more open, the same program can do more. */
export function boxOf(sandbox: Sandbox | undefined): object[] {
  const settings = sandboxOf(sandbox);
  return settings ? [{ sandbox: settings }] : [];
}

/** The name of a setup among the approvals. */
export function nameOfSetup({ command }: { readonly command: string }): string {
  return `setup: ${command}`;
}

/** The name of a hook among the approvals. */
export function nameOfHook({ type, command }: Pick<HookConfig, 'type' | 'command'>): string {
  return `${type}: ${command}`;
}

/**
 * The files by which what a workspace would run differs from what the approved folder has, in brackets, for people. Empty
 * if that folder itself changed, or is on another machine.
 */
export function nameChanged(read: (cwd: string) => ReadonlyMap<string, string | Buffer>, folders: Folders): string {
  const { cwd, approvedIn } = folders;
  if (cwd === approvedIn) return '';
  const [now = [], before = []] = [placedIn(approvedIn, cwd, read(cwd)), read(approvedIn)].map(digestFiles);
  return before.length === 0 ? '' : nameFiles(differing(before, now), approvedIn);
}

/** The files whose content is not the same, or that are missing in one of both. */
export function differing(before: readonly FileDigest[], after: readonly FileDigest[]): string[] {
  const [had, has] = [new Map(before), new Map(after)];
  return [...new Set([...has.keys(), ...had.keys()])].filter((path) => has.get(path) !== had.get(path));
}

/** Files of a folder, in brackets, for people. */
export function nameFiles(paths: readonly string[], folder: string): string {
  const names = paths.map((path) => (isWithin(folder, path) ? relative(folder, path) : path));
  return names.length === 0 ? '' : ` (${joinSome(names, ', ')})`;
}

interface Folders {
  readonly cwd: string;
  readonly approvedIn: string;
}

/** Files as if they were at the same places of another folder. */
function placedIn(
  folder: string,
  cwd: string,
  files: ReadonlyMap<string, string | Buffer>,
): Map<string, string | Buffer> {
  return new Map(
    [...files].map(([path, content]) => [isWithin(cwd, path) ? join(folder, relative(cwd, path)) : path, content]),
  );
}

/** The hash of everything that an approval covers. */
export function hashAll(parts: readonly unknown[]): string {
  return digest(JSON.stringify(parts));
}

/** A file, and the hash of its content. */
type FileDigest = readonly [path: string, hash: string];

/** Files with the hashes of their contents. */
export function digestFiles(files: ReadonlyMap<string, string | Buffer>): FileDigest[] {
  return [...files].map(([path, content]) => [path, digest(content)]);
}

/** Of a package, only the scripts decide what runs. */
function digestPart(file: string): string {
  const content = contentOf(file);
  return digest((basename(file) === 'package.json' ? scriptsOf(content) : content) ?? '');
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
