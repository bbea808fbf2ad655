import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../../../client/home.ts';
import type { Home } from '../../../client/home.ts';
import { Refusal } from '../../show/errors.ts';

/** What a service manager starts. */
export interface ServiceProgram {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  /** Where the program writes what its log does not have. */
  readonly log: string;
}

/** The first line of a file that Troupe wrote. A file without it belongs to somebody else. */
export const OURS = 'Written by troupe service install; troupe service remove removes it.';

/** The relative path is the same from `src/cli/commands` and `dist/cli`, which the bundler keeps. */
const BIN = fileURLToPath(new URL('../../../../bin/troupe.js', import.meta.url));

/**
 * The daemon of a state directory as a service. A service manager gives it neither the PATH nor the variables of a
 * terminal, so those that decide where agents and teams are found are part of the service. Secrets never are.
 */
export function describeProgram(home: Home, environment: NodeJS.ProcessEnv): ServiceProgram {
  const script = realpathSync(BIN);
  if (script.includes(`${sep}_npx${sep}`)) {
    const why = `npm may delete ${dirname(dirname(script))} at any time`;
    throw new Refusal('conflict', `A service needs an installed Troupe, and ${why}: first npm install -g troupe`);
  }
  const program: ServiceProgram = {
    command: [process.execPath, script, 'serve'],
    variables: {
      PATH: pathFor(environment['PATH'] ?? '', process.execPath),
      TROUPE_HOME: home.directory,
      ...pick(environment, FOLDERS),
    },
    log: home.log,
  };
  const odd = [...program.command, ...Object.values(program.variables)].find((text) => CONTROL.test(text));
  if (odd === undefined) return program;
  throw new Refusal('unsupported', `${JSON.stringify(odd)} has a control character, so no service can be made of it`);
}

// oxlint-disable-next-line no-control-regex -- neither kind of file can have them
const CONTROL = /[\x00-\x1f\x7f]/;

/** Where agents keep their settings and logins, if it is not where they usually do. */
const FOLDERS = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'];

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name] ?? '';
      return isAbsolute(value) ? [[name, value]] : [];
    }),
  );
}

/** Folders that npm adds for the time of one command. */
const OF_NPM = /\/node_modules\/(?:\.bin|npm\/.*)$|\/node-gyp-bin$/;

/**
 * The PATH of a service: the folders of the terminal's, each once. Relative ones mean something else in another working
 * directory. The folder of this Node comes along, because agents that npm installed begin with `env node`.
 */
export function pathFor(path: string, node: string): string {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !OF_NPM.test(folder));
  return [...new Set([...folders, dirname(node)])].join(delimiter);
}

/** One service for each state directory: the usual one has the short name. */
export function nameFor(home: Home, environment: NodeJS.ProcessEnv): string {
  const { TROUPE_HOME: _own, ...rest } = environment;
  if (findHome(rest).directory === home.directory) return 'troupe';
  return `troupe-${createHash('sha256').update(home.directory).digest('hex').slice(0, 8)}`;
}
