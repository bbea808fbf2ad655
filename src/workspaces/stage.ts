import { constants, lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { lacksEncoding, listLackingEncoding, NO_ENCODING } from './attributes.ts';
import { RAW, readRaw } from './depot/compare.ts';
import type { RawChange } from './depot/compare.ts';
import { GitError } from './git-errors.ts';
import { splitZero } from './git.ts';
import type { Git } from './git.ts';
import { inFolder, joinZero, toText, withoutUnseen } from './paths.ts';
import type { LeftOut, LeftOutReason, WorkLimits } from './workspace.ts';

const NOTHING: ReadonlySet<string> = new Set();

/** A folder with an index of ours that knows what the last save has. */
export interface Staging {
  readonly git: Git;
  readonly dir: string;
  readonly index: string;
  readonly folder: string;
  readonly limits: WorkLimits;
  /** Filters that the base names and that Troupe does not run. */
  readonly filters: ReadonlySet<string>;
  /** New files that are taken even if they are ignored. */
  readonly staged?: readonly Buffer[];
  /** Ignored files that came from the checkout, as latin1. They stay out of saves, whatever a new `.gitignore` says. */
  readonly copied?: ReadonlySet<string>;
  readonly signal?: AbortSignal | undefined;
  /** Called before the index is replaced for the first time. */
  readonly beforeChange?: () => Promise<void>;
}

/** What was brought into the index. */
export interface Staged {
  /** Whether anything was. Otherwise the index is as before. */
  readonly isTouched: boolean;
  readonly leftOut: readonly LeftOut[];
}

/** A file or link to be taken. */
export interface Candidate {
  readonly path: Buffer;
  readonly size: number;
  /** When it changed last, in milliseconds. */
  readonly changedAt: number;
}

/** How a folder differs from its index. */
export interface Differences {
  readonly files: readonly Candidate[];
  readonly gone: readonly Buffer[];
  /** What the index has of a path that changed or is gone; of a new one, nothing. */
  readonly indexed: (path: Buffer) => Pick<RawChange, 'oldMode' | 'oldId'> | undefined;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Brings the index to what is in the folder. Not with `git add -A`: that looks into nested repositories and submodules,
 * where it runs what their settings name, and one odd name fails all of it. Git only lists what differs. Each path is
 * looked at here, without following links, and then named to git as a file.
 *
 * `prior` lists the paths that differ from the base already; they count for the size of the work.
 */
export async function stageFolder(staging: Staging, prior: readonly Buffer[]): Promise<Staged> {
  return takeDifferences(staging, await findDifferences(staging, prior));
}

/** The first half of `stageFolder`: nothing is changed yet. */
export async function findDifferences(staging: Staging, prior: readonly Buffer[]): Promise<Differences> {
  const { folder, staged = [], copied = NOTHING } = staging;
  const listed = await listDifferences(staging);
  if ('leftOut' in listed) return { files: [], gone: [], indexed: () => undefined, leftOut: listed.leftOut };
  const { changed, fresh } = listed;
  const leftOut: LeftOut[] = [];
  const found: Candidate[] = [];
  const leave = leaverOf(leftOut);

  // A path behind a link counts as removed.
  const isRemoved = ({ status }: RawChange) => status === 'deleted';
  const gone = changed.filter(isRemoved).map(({ path }) => path);
  const modified = changed.filter((change) => !isRemoved(change)).map(({ path }) => path);
  const isCopied = (path: Buffer) => copied.has(path.toString('latin1'));
  for (const path of fresh.filter(isCopied)) leave(path, 'copied');
  for (const path of distinct([...modified, ...fresh.filter((one) => !isCopied(one)), ...staged])) {
    // A slash at the end is how git lists a repository inside.
    if (path.at(-1) === SLASH) {
      leave(path.subarray(0, -1), 'nested-repository');
      continue;
    }
    const facts = lookAt(folder, path);
    if (isRefusedName(path)) leave(path, 'name', 'git keeps such names for itself');
    else if (facts === undefined || facts.isDirectory()) gone.push(path);
    else if (!facts.isFile() && !facts.isSymbolicLink()) leave(path, 'special-file');
    else if (facts.size > staging.limits.fileSize) leave(path, 'file-size', `${facts.size} bytes`);
    else if (await lacksEncoding(folder, path)) leave(path, 'unreadable', NO_ENCODING);
    else found.push({ path, size: facts.size, changedAt: facts.ctimeMs });
  }
  // The files of a large work are not looked at if nothing is to be added.
  const files =
    found.length === 0
      ? []
      : leaveTooMuch(staging, { found: await leaveFiltered(staging, found, leave), prior }, leave);
  const before = new Map(changed.map((change) => [change.path.toString('latin1'), change]));
  return { files, gone, indexed: (path) => before.get(path.toString('latin1')), leftOut };
}

/** The second half: brings the index to what was found. */
export async function takeDifferences(staging: Staging, { files, gone, leftOut }: Differences): Promise<Staged> {
  const { git, dir, index, folder, signal } = staging;
  const place = { dir, index, tree: folder };
  const left = [...leftOut];
  const leave = leaverOf(left);
  const isTouched = gone.length + files.length > 0;
  if (isTouched) await staging.beforeChange?.();
  if (gone.length > 0) {
    await git.run(place, ['update-index', '-z', '--force-remove', '--stdin'], { input: joinZero(gone), signal });
  }
  await feed(staging, files, leave);
  return { isTouched, leftOut: left };
}

/** What differs from the index, and what is not in it. While git reads no file because of some attributes: those. */
async function listDifferences({
  git,
  dir,
  index,
  folder,
  signal,
}: Staging): Promise<{ changed: RawChange[]; fresh: Buffer[] } | { leftOut: LeftOut[] }> {
  const place = { dir, index, tree: folder };
  try {
    const [changed, fresh] = await Promise.all([
      git.run(place, ['diff-files', ...RAW, '--no-renames', '--ignore-submodules=all'], { signal }),
      git.run(place, ['ls-files', '-z', '--others', '--exclude-standard'], { signal }),
    ]);
    return { changed: readRaw(splitZero(changed.out)), fresh: splitZero(fresh.out) };
  } catch (error) {
    if (!isAboutPath(error)) throw error;
    const causes = await listLackingEncoding(git, place, folder);
    // One that is ignored itself.
    if (causes.length === 0) causes.push(Buffer.from('.gitattributes'));
    const leftOut = causes.map((path) => ({ path: toText(path), reason: 'unreadable', detail: NO_ENCODING }) as const);
    return { leftOut };
  }
}

/** Paths without repetitions. They are bytes, which latin1 keeps as they are. */
function distinct(paths: readonly Buffer[]): Iterable<Buffer> {
  return new Map(paths.map((path) => [path.toString('latin1'), path])).values();
}

type Leave = (path: Buffer, reason: LeftOutReason, detail?: string) => void;

/** Writes down what is left out. */
function leaverOf(leftOut: LeftOut[]): Leave {
  return (path, reason, detail) =>
    void leftOut.push({ path: toText(path), reason, ...(detail !== undefined && { detail }) });
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const SLASH = 47;

/**
 * Whether a part of a path would be `.git` on some system. Git ignores such paths without a word. Or whether a folder has
 * the name of a file that git reads: `add` takes it, `fsck` and other machines refuse it.
 */
function isRefusedName(path: Buffer): boolean {
  const parts = withoutUnseen(path.toString()).split('/');
  return (
    parts.some((part) => /^(?:\.git|git~1)[ .]*(?::.*)?$/i.test(part) || part.split('\\').some(isDotGit)) ||
    parts.slice(0, -1).some((part) => /^(?:\.git(?:modules|attributes)|git(?:mod|att)~[1-4])[ .]*(?::.*)?$/i.test(part))
  );
}

function isDotGit(part: string): boolean {
  return /^(?:\.git|git~1)[ .]*$/i.test(part);
}

/** Leaves out files whose stored form only a filter can make: without it, megabytes would replace a pointer. */
async function leaveFiltered(
  staging: Staging,
  found: readonly Candidate[],
  leave: Leave,
): Promise<readonly Candidate[]> {
  const { git, dir, index, folder, filters, signal } = staging;
  if (filters.size === 0) return found;
  const input = joinZero(found.map(({ path }) => path));
  const place = { dir, index, tree: folder };
  const { out } = await git.run(place, ['check-attr', '-z', '--stdin', 'filter'], { input, signal });
  // Of each path, in the same order: the path, the attribute, its value.
  const values = splitZero(out);
  const kept: Candidate[] = [];
  for (const [at, candidate] of found.entries()) {
    const filter = String(values[3 * at + 2]);
    const isLost = filters.has(filter) && !(await isStored(folder, candidate));
    if (isLost) leave(candidate.path, 'filter', filter);
    else kept.push(candidate);
  }
  return kept;
}

const POINTER = 'version https://git-lfs.github.com/spec/';

/** Whether no filter is needed: a link, which git stores as it is, or a pointer to a large file already. */
async function isStored(folder: string, { path, size }: Candidate): Promise<boolean> {
  if (size > 1024) return false;
  try {
    // A pipe that takes the file's place meanwhile does not hold us up.
    await using file = await open(inFolder(folder, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return buffer.toString('latin1', 0, bytesRead).startsWith(POINTER);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ELOOP';
  }
}

/** Leaves out the largest files, if all together are too much. */
function leaveTooMuch(
  { folder, limits }: Staging,
  { found, prior }: { found: readonly Candidate[]; prior: readonly Buffer[] },
  leave: Leave,
): readonly Candidate[] {
  const news = new Set(found.map(({ path }) => path.toString('latin1')));
  let total = 0;
  for (const path of prior) if (!news.has(path.toString('latin1'))) total += lookAt(folder, path)?.size ?? 0;
  return [...found]
    .sort((a, b) => a.size - b.size)
    .filter(({ path, size }) => {
      const fits = total + size <= limits.workSize;
      if (fits) total += size;
      else leave(path, 'work-size', `${size} bytes`);
      return fits;
    });
}

/** Waiting for each answer would take ten times as long as the answer, and a work may have thousands of files. */
export function lookAt(folder: string, path: Buffer): Stats | undefined {
  try {
    return lstatSync(inFolder(folder, path), { throwIfNoEntry: false });
  } catch {
    // Such as a name that is too long, or a file where a folder should be.
    return undefined;
  }
}

/** Names files to git. If it stops at one of them, halves find out which; the rest is taken. */
async function feed(staging: Staging, candidates: readonly Candidate[], leave: Leave): Promise<void> {
  if (candidates.length === 0) return;
  const { git, dir, index, folder, signal } = staging;
  const input = joinZero(candidates.map(({ path }) => path));
  try {
    const words = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
    const { err } = await git.run({ dir, index, tree: folder }, words, { input, signal });
    // A name that only git knows to refuse, such as a link with the name `.gitmodules`.
    for (const [, name = ''] of err.matchAll(/^Ignoring path (.*)$/gm)) leave(Buffer.from(name), 'name');
  } catch (error) {
    if (!isAboutPath(error)) throw error;
    if (candidates.length === 1) {
      const said = error.complaint.split('\n').find((line) => !line.startsWith('hint:'));
      for (const { path } of candidates) leave(path, 'unreadable', said);
      return;
    }
    const middle = candidates.length >> 1;
    await feed(staging, candidates.slice(0, middle), leave);
    await feed(staging, candidates.slice(middle), leave);
  }
}

/** The second line: a file that is not in the encoding that `.gitattributes` names for it. */
const ABOUT_PATH = new RegExp(
  [
    "Unable to process path|unable to index file|short read|filter '.*' failed",
    'failed to encode|BOM is (?:required|prohibited)|and back is not the same|no valid working-tree-encodings',
  ].join('|'),
);

/** Whether git stopped at a file, and not because the disk is full or the depot is damaged. */
export function isAboutPath(error: unknown): error is GitError {
  return error instanceof GitError && OF_FILES.has(error.facts?.errno) && ABOUT_PATH.test(error.complaint);
}

/** What the system says of a single file, if anything. */
const OF_FILES = new Set<unknown>([undefined, 'EACCES']);
