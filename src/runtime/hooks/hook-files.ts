import { accessSync, closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, relative, resolve, sep, join } from 'node:path';

/** A hook without its files. */
export interface HookText {
  readonly command: string;
  readonly executor: 'shell' | 'node';
}

/** No gate has more files, and the search must not take long. */
export const FILES = 64;

/** Larger files belong to a hook too, but we don't search them for names. Bytes. */
const READ_BYTES = 1024 * 1024;

/** Separators between words of a shell or a program. */
export const BETWEEN_WORDS = /[\s;|&"'`()<>={},]+/;

/** Programs that run the scripts of a package. */
export const PACKAGE_RUNNERS = ['npm', 'npx', 'pnpm', 'yarn', 'bun'];
/** Programs that run what one of these files says. */
export const MAKERS: Readonly<Record<string, readonly string[]>> = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', '.justfile', 'Justfile'],
};

/**
 * The files that decide what a hook does, each with its content:
 * - files that its command names, except those that it plainly writes;
 * - the scripts that its runners read (`npm test`, `make check`);
 * - programs beside these that they name;
 * - modules that they import.
 * Everything else that a gate reads is the work that it judges, which is meant to change.
 */
export function filesOfHook({ command, executor }: HookText, cwd: string): Map<string, string | Buffer> {
  const outputs = outputsOf(command);
  const covers = (path: string, word: string): boolean => !outputs.has(word) || isProgramFile(path);
  return filesOf(wordsOf(command), { cwd, hasRunners: executor === 'shell', covers });
}

/**
 * The files that decide what an agent's command does. A program by its absolute path is the machine's, not the
 * checkout's. What the user's own program reads (`isOwn`) is its work, which is meant to change.
 */
export function filesOfCommand(
  command: readonly string[],
  { cwd, folder, isOwn }: { readonly cwd: string; readonly folder: string; readonly isOwn: boolean },
): Map<string, string | Buffer> {
  const words = [...new Set(command.flatMap((word) => [word, ...wordsOf(word)]))];
  const covers = (path: string, word: string): boolean =>
    (!isAbsolute(word) || isWithin(folder, path)) && (!isOwn || isProgramFile(path));
  return filesOf(words, { cwd, hasRunners: true, covers });
}

/**
 * The files that decide what a setup does: programs that it names, and the scripts that its runners read. Not other files
 * that it names: in `cp .env.example .env` they differ from workspace to workspace.
 */
export function filesOfSetup(command: string, cwd: string): Map<string, string | Buffer> {
  return filesOf(wordsOf(command), { cwd, hasRunners: true, covers: isProgramFile });
}

/** Those of these files that exist in one of the folders. */
export function filesNamed(names: readonly string[], folders: readonly string[]): Map<string, string | Buffer> {
  const paths = new Set(folders.flatMap((folder) => names.map((name) => join(folder, name))));
  return new Map(
    [...paths].flatMap((path) => {
      const content = contentOf(path);
      return content === undefined ? [] : [[path, content] as const];
    }),
  );
}

function filesOf(
  words: readonly string[],
  {
    cwd,
    hasRunners,
    covers,
  }: {
    readonly cwd: string;
    readonly hasRunners: boolean;
    readonly covers: (path: string, word: string) => boolean;
  },
): Map<string, string | Buffer> {
  const found = new Map<string, string | Buffer>();
  const waiting: string[] = [];
  const add = (path: string): void => {
    if (found.size >= FILES || found.has(path)) return;
    const content = contentOf(path);
    if (content === undefined) return;
    found.set(path, content);
    if (content.length <= READ_BYTES) waiting.push(path);
  };
  const addRunners = (words: readonly string[]): void => {
    if (words.some((word) => PACKAGE_RUNNERS.includes(word))) {
      const path = resolve(cwd, 'package.json');
      const scripts = scriptsOf(contentOf(path));
      if (scripts !== undefined) found.set(path, scripts);
    }
    for (const word of words) for (const name of MAKERS[word] ?? []) add(resolve(cwd, name));
  };

  // A command may change the folder first: `cd checks && ./gate.sh`.
  const folders = [cwd, ...words.map((word) => resolve(cwd, word)).filter(isFolder)];
  for (const folder of folders) {
    for (const word of words) if (covers(resolve(folder, word), word)) add(resolve(folder, word));
  }
  if (hasRunners) addRunners(words);

  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const text = (found.get(path) ?? '').toString();
    for (const module of modulesIn(text, path)) add(module);
    if (!isProgram(path, text)) continue;
    if (!isModule(path)) addRunners(wordsOf(text));
    for (const word of wordsOf(text)) {
      // `$(dirname "$0")/lib.sh` is a word that ends like this.
      const beside = resolve(dirname(path), basename(word));
      if (isProgramFile(beside)) add(beside);
    }
  }
  return found;
}

/** The words of a command, without the files that it writes. Numbers are exit codes and streams (`exit 2`, `2>&1`), no files. */
function wordsOf(text: string): string[] {
  const written = new Set([...text.matchAll(/>>?\s*([^\s;|&"'()<>]+)/g)].map(([, word]) => word));
  return [...new Set(text.split(BETWEEN_WORDS))].filter((word) => !/^\d*$/.test(word) && !written.has(word));
}

/** A program that writes the files after it, or an option with the name of a file to write. */
const OUTPUT =
  /(?:^|[\s;|&({])(?:(?:touch|tee|rm|mkdir)(?:\s+-\S+)*\s+|(?:-o|--out(?:put)?(?:-?file|-?dir)?|--junit-?xml|--log-?file|--report-?file)[\s=]+)([^\s;|&"'()<>]+)/gi;

/** The files that a command plainly writes: a gate that is told where to put its report does not change by that. */
function outputsOf(command: string): Set<string> {
  return new Set([...command.matchAll(OUTPUT)].map(([, word = '']) => word));
}

/** The local files that a module of JavaScript, TypeScript or Python imports. */
function modulesIn(text: string, path: string): string[] {
  const folder = dirname(path);
  if (extname(path) === '.py') {
    const names = [...text.matchAll(/^\s*(?:import|from)\s+\.?(\w+)/gm)].map(([, name = '']) => name);
    return names.flatMap((name) => [resolve(folder, `${name}.py`), resolve(folder, name, '__init__.py')]);
  }
  if (!isModule(path)) return [];
  const imports = [...text.matchAll(/(?:from|import|require)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)];
  return imports.flatMap(([, name = '']) =>
    ['', '.js', '.mjs', '.cjs', '.ts', '/index.js'].map((ending) => resolve(folder, `${name}${ending}`)),
  );
}

function isModule(path: string): boolean {
  return /^\.[cm]?[jt]s$/.test(extname(path));
}

/** A program: by its extension, its first line or its executable bit. */
function isProgram(path: string, head: string): boolean {
  if (isModule(path) || /^\.(sh|bash|zsh|py|rb|pl)$/.test(extname(path)) || head.startsWith('#!')) return true;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isProgramFile(path: string): boolean {
  const head = headOf(path);
  return head !== undefined && isProgram(path, head);
}

/** The first two characters of a regular file: the program of an agent can have 300 MB. */
function headOf(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    const file = openSync(path, 'r');
    try {
      const head = Buffer.alloc(2);
      return head.toString('latin1', 0, readSync(file, head));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Whether a path is a folder, or in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The scripts of a package; the rest of its file changes with the work. */
export function scriptsOf(content: Buffer | undefined): string | undefined {
  if (content === undefined) return undefined;
  try {
    return JSON.stringify((JSON.parse(content.toString()) as { scripts?: unknown }).scripts ?? {});
  } catch {
    return content.toString();
  }
}

/** Whether the path is a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The content of a regular file; undefined if there is none that can be read. */
export function contentOf(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}
