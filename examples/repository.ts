import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The command line of this checkout. */
export const TROUPE = join(ROOT, 'bin', 'troupe.js');

/** The names of the examples: folders with a team file. */
export const EXAMPLES = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, 'troupe.yaml')),
);

/**
 * The variables of an example's programs: `troupe` is on their PATH, with the given variables, and nothing names a
 * repository of yours, as GIT_DIR would.
 */
export function environmentIn(place: string, given: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const programs = join(place, 'bin');
  mkdirSync(programs, { recursive: true });
  const variables = Object.entries(given).map(([name, value]) => `${name}='${value}' `);
  const script = `#!/bin/sh\n${variables.join('')}exec '${process.execPath}' '${TROUPE}' "$@"\n`;
  writeFileSync(join(programs, 'troupe'), script);
  chmodSync(join(programs, 'troupe'), 0o755);
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(own), ...given, PATH: [programs, process.env['PATH']].join(delimiter) };
}

/** Makes a repository with the programs of an example's team. Without git, it is only a folder. */
export function makeRepository(example: string, place: string, env: NodeJS.ProcessEnv): string {
  const repo = join(place, example);
  cpSync(join(import.meta.dirname, example), repo, { recursive: true });
  const who = ['-c', 'user.name=Troupe', '-c', 'user.email=troupe@troupe.invalid', '-c', 'commit.gpgSign=false'];
  for (const words of [
    ['init', '--quiet', '--template=', '--initial-branch=main'],
    ['add', '.'],
    [...who, 'commit', '--quiet', '--message', 'The programs of the team'],
  ]) {
    spawnSync('git', words, { cwd: repo, env, stdio: 'ignore' });
  }
  return repo;
}
