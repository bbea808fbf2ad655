import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { BETWEEN_WORDS, contentOf, FILES, isWithin, MAKERS, PACKAGE_RUNNERS } from './hook-files.ts';

/** Programs that run the file that follows them. */
const INTERPRETERS = /^(?:(?:ba|da|z|k)?sh|node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|source|\.|run)$/;

/**
 * The files of a folder that a command runs: programs that it names, scripts that those run, and what its runners read
 * (`npm run x`, `make`). Not files that it only names, nor modules that a program imports: they are what members work on.
 */
export function filesRunBy(
  command: readonly string[],
  { cwd, folder }: { readonly cwd: string; readonly folder: string },
): Set<string> {
  const found = new Set<string>();
  const scripts: [path: string, text: string][] = [];
  const add = (path: string): void => {
    if (found.size >= FILES || found.has(path) || !isWithin(folder, path)) return;
    const content = contentOf(path);
    if (!content) return;
    found.add(path);
    const text = content.toString();
    if (isScript(path, text)) scripts.push([path, text]);
  };
  const addRun = (words: readonly string[], places: (word: string) => readonly string[]): void => {
    let before = '';
    for (const word of words) {
      const runner = basename(before);
      for (const path of places(word)) if (INTERPRETERS.test(runner) || isExecutable(path)) add(path);
      if (PACKAGE_RUNNERS.includes(word)) add(resolve(cwd, 'package.json'));
      for (const name of MAKERS[word] ?? []) add(resolve(cwd, name));
      // Options of an interpreter come before its file.
      if (!word.startsWith('-')) before = word;
    }
  };

  const words = command.flatMap((word) => word.split(BETWEEN_WORDS)).filter(Boolean);
  addRun(words, (word) => [resolve(cwd, word)]);
  for (const [at, text] of scripts) {
    // A script names others by their place in the folder where it runs, or beside itself.
    const places = (word: string): string[] => [resolve(cwd, word), resolve(dirname(at), basename(word))];
    addRun(text.split(BETWEEN_WORDS).filter(Boolean), places);
  }
  return found;
}

function isScript(path: string, text: string): boolean {
  return /^\.(?:sh|bash|zsh)$/.test(extname(path)) || /^#!.*sh\b/.test(text) || basename(path) === 'package.json';
}

/** Without its content: the program of an agent can have 300 MB, and with these in its memory the daemon starts git five times slower. */
function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
