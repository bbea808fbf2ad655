import { constants } from 'node:fs';
import { access, opendir, readdir } from 'node:fs/promises';
import type { DepotHandle } from '../depot/handle.ts';
import { splitZero } from '../git.ts';
import { inFolder, joinZero, toText } from '../paths.ts';
import { listSubmodules } from '../submodules.ts';
import type { ObjectId, Unsaved } from '../workspace.ts';

/** A folder, its index, and the commit that its work began from. */
export interface LookedAt {
  readonly handle: DepotHandle;
  readonly index: string;
  readonly folder: string;
  readonly base: ObjectId;
}

/** A path that is ignored, with the file and the line that say so. */
interface Ignored {
  readonly path: Buffer;
  readonly source: string;
  readonly line: number;
  readonly rule: string;
}

/** Finds what is in a folder and in no save, besides what was ignored at `since` already. */
export async function findUnsaved(looked: LookedAt, since: ObjectId): Promise<Unsaved[]> {
  const listed = await listIgnored(looked);
  const ignored = await checkIgnored(looked, listed);
  const submodules = await listSubmodules(place(looked));
  const closed = new Set([...ignored.map(({ path }) => path), ...submodules].map(keyOf));
  const special = await findSpecial(looked.folder, closed);
  const paths = special.map(({ path }) => path);
  const hidden = new Set((await checkIgnored(looked, paths)).map(({ path }) => keyOf(path)));
  const filled = await Promise.all(submodules.map((path) => hasFiles(looked.folder, path)));
  return [
    ...(await keepNew(looked, ignored, since)),
    ...special.flatMap(({ path, kind }) => (hidden.has(keyOf(path)) ? [] : { kind, path: toText(path) })),
    ...submodules.flatMap((path, i) => (filled[i] ? { kind: 'submodule' as const, path: toText(path) } : [])),
  ];
}

function place({ handle: { git, dir }, index, folder }: LookedAt) {
  return { git, dir, index, tree: folder, folder };
}

/** What git ignores, folders as one path. It also names folders that only contain something ignored. */
async function listIgnored(looked: LookedAt): Promise<Buffer[]> {
  const words = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  return splitZero((await looked.handle.git.run(place(looked), words)).out);
}

/** Those of some paths that are ignored themselves, each with the rule. */
async function checkIgnored(looked: LookedAt, paths: readonly Buffer[]): Promise<Ignored[]> {
  if (paths.length === 0) return [];
  const words = ['check-ignore', '-z', '--verbose', '--stdin'];
  // One that begins with a colon would be a pattern.
  const input = joinZero(paths.map((path) => Buffer.concat([HERE, path])));
  const options = { input, variables: WITH_PATTERNS, exits: [0, 1] };
  const parts = splitZero((await looked.handle.git.run(place(looked), words, options)).out);
  return Array.from({ length: Math.floor(parts.length / 4) }, (_, i) => {
    const [source, line, rule, path] = parts.slice(4 * i, 4 * i + 4) as [Buffer, Buffer, Buffer, Buffer];
    return {
      path: path.subarray(HERE.length),
      source: source.toString(),
      line: Number(line),
      rule: rule.toString(),
    };
  });
}

/** Leaves out what rules of the user, or of the project at `since`, ignore: nobody expects that in a save. */
async function keepNew(looked: LookedAt, ignored: readonly Ignored[], since: ObjectId): Promise<Unsaved[]> {
  const sources = new Set(ignored.map(({ source }) => source).filter((name) => /(?:^|\/)\.gitignore$/.test(name)));
  const found: Unsaved[] = [];
  for (const source of sources) {
    const [before, landed] = await Promise.all([
      rulesOf(looked.handle, since, source),
      rulesOf(looked.handle, looked.base, source),
    ]);
    for (const { path, line, rule } of ignored.filter((one) => one.source === source)) {
      if (before.has(rule)) continue;
      const by = { source, line, rule, isLanded: landed.has(rule) };
      found.push({ kind: 'ignored', path: toText(path), ...by });
    }
  }
  return found;
}

async function rulesOf({ run }: DepotHandle, commit: ObjectId, source: string): Promise<Set<string>> {
  const { code, out } = await run(['cat-file', 'blob', `${commit}:${source}`], { exits: [0, 128] });
  // Git leaves out spaces at the end, too.
  return new Set(
    code === 0
      ? out
          .toString()
          .split('\n')
          .map((line) => line.trimEnd())
      : [],
  );
}

/** Something that git does not list. */
interface Special {
  readonly kind: 'special-file' | 'closed-folder';
  readonly path: Buffer;
}

/**
 * Pipes, sockets and devices, and folders that nobody may or can look into. Ignored folders and repositories inside are not
 * looked at.
 */
async function findSpecial(folder: string, closed: ReadonlySet<string>): Promise<Special[]> {
  const found: Special[] = [];
  const look = async (inside: Buffer): Promise<void> => {
    const whole = inside.length === 0 ? Buffer.from(folder) : inFolder(folder, inside);
    const [folders, special]: [Buffer[], Special[]] = [[], []];
    if (await isClosed(whole)) found.push({ kind: 'closed-folder', path: Buffer.concat([inside, SLASH]) });
    // The folder may go while it is looked at.
    const opened = await opendir(whole as unknown as string, { encoding: 'buffer' as BufferEncoding }).catch(() => []);
    for await (const entry of opened) {
      const name = entry.name as unknown as Buffer;
      const path = inside.length === 0 ? name : Buffer.concat([inside, SLASH, name]);
      if (name.equals(DOT_GIT)) {
        if (inside.length > 0) return;
      } else if (entry.isDirectory()) folders.push(path);
      else if (!entry.isFile() && !entry.isSymbolicLink()) special.push({ kind: 'special-file', path });
    }
    found.push(...special);
    for (const path of folders) if (!closed.has(keyOf(path))) await look(path);
  };
  await look(Buffer.of());
  return found;
}

/** Without rights, or with a path that is too long. */
const CLOSED = new Set<string | undefined>(['EACCES', 'ENAMETOOLONG']);

async function isClosed(folder: Buffer): Promise<boolean> {
  try {
    await access(folder, constants.R_OK | constants.X_OK);
    return false;
  } catch (error) {
    return CLOSED.has((error as NodeJS.ErrnoException).code);
  }
}

/** `check-ignore` takes no literal paths. */
const WITH_PATTERNS = { GIT_LITERAL_PATHSPECS: '0' };

const HERE = Buffer.from('./');
const SLASH = Buffer.from('/');
const DOT_GIT = Buffer.from('.git');

/** Bytes as a key; a folder is the same with a slash at its end. */
function keyOf(path: Buffer): string {
  return path.toString('latin1').replace(/\/$/, '');
}

async function hasFiles(folder: string, path: Buffer): Promise<boolean> {
  const names = await readdir(inFolder(folder, path)).catch(() => []);
  return names.length > 0;
}
