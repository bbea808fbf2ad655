import { dirname } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { environmentOfUser, identityIn, settingsInEnvironment } from './git-environment.ts';
import { start } from './git-process.ts';
import type { GitOptions, GitResult } from './git-process.ts';
import type { ObjectId } from './workspace.ts';

export type { GitOptions, GitResult } from './git-process.ts';

/** The oldest git that can merge without a folder (`merge-tree --write-tree`). */
export const OLDEST_GIT = '2.38';

/** Where a git command works. What a folder holds in its own `.git` is never used. */
export interface GitPlace {
  /** The git directory, which is also the working directory. */
  readonly dir: string;
  /** Our own index file. */
  readonly index?: string;
  /** The folder whose files are read or written. */
  readonly tree?: string;
}

/** How git reaches another machine. */
export interface ReachOptions extends GitOptions {
  /** Keys and values. They may hold secrets, so they are in no argument. */
  readonly settings: readonly (readonly [key: string, value: string])[];
}

/** Runs git commands. */
export interface Git {
  run(place: GitPlace, args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Makes a bare repository in an empty folder. Git refuses to do that where a repository or a folder is named. */
  init(dir: string, format: 'sha1' | 'sha256'): Promise<void>;
  /** Runs `git` in a folder of the user, as the user's own git would look at it. Only for commands that read settings. */
  ask(folder: string, args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /**
   * Runs git in a bare repository of ours, as the user's own git reaches other machines: with the user's environment and
   * credential helpers, but without a question to anybody. Of the user's settings only the given ones hold.
   */
  reach(dir: string, args: readonly string[], options: ReachOptions): Promise<GitResult>;
  /**
   * Runs `git` in a folder of the user as the user's own git would: all settings hold, hooks run, commits are the user's.
   * Only for what a person asked for. Nobody can be asked anything, and every exit code is an answer.
   */
  asUser(folder: string, args: readonly string[]): Promise<GitResult>;
  /** The version, such as `2.39.5`. Fails with `unsupported` if git is missing or older than `OLDEST_GIT`. */
  version(): Promise<string>;
}

/** Which git, and with which environment. */
export interface GitSettings {
  readonly program?: string;
  /** The daemon's environment; only PATH, HOME and TMPDIR are taken. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that mark our processes, so that the next daemon finds those of a killed one. */
  readonly marks?: Readonly<Record<string, string>>;
}

/** In a folder of the user, no program runs because a setting names it. */
const QUIET = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

const ANY_EXIT = Array.from({ length: 256 }, (_, code) => code);

/**
 * Settings for every command. They close what a git directory of our own leaves open: hooks, programs that watch or
 * convert files, other protocols than named ones, and work in the background. Without `core.fsync`, git flushes nothing.
 */
const ALWAYS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'core.quotePath=false',
  // A name that would be `.git` on another system is refused here, too.
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  // All but the index: a torn one is made again from the last save, and each save writes it twice.
  'core.fsync=objects,derived-metadata,reference',
  'core.fsyncMethod=batch',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** The words of every fetch: it changes no ref but the named ones, and starts nothing else. */
export const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
] as const;

/** Nobody is asked for a password. */
const UNASKED = { GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: 'false' };

/** Variables of all commands but those that a person asked for. */
const SHARED = { LC_ALL: 'C', TZ: 'UTC', ...UNASKED, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' };

/** Variables of commands in our own repositories. */
const OWN = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
};

/** Makes the runner of git commands: the only place that starts git. */
export function openGit({ program = 'git', environment, marks = {} }: GitSettings): Git {
  const { PATH: path = '/usr/local/bin:/usr/bin:/bin', HOME: home = '/', TMPDIR: temporary } = environment;
  const shared = { ...marks, PATH: path, ...SHARED, ...(temporary !== undefined && { TMPDIR: temporary }) };
  const own = { ...shared, ...OWN };
  let known: Promise<string> | undefined;

  return {
    run({ dir, index = `${dir}/no-index`, tree = `${dir}/no-tree` }, args, options = {}) {
      const { variables, config = [] } = options;
      const env = { ...own, ...variables, HOME: dir, GIT_DIR: dir, GIT_INDEX_FILE: index, GIT_WORK_TREE: tree };
      const settings = config.flatMap((setting) => ['-c', setting]);
      return start(program, [...ALWAYS, ...settings, ...args], { cwd: dir, env, options, shown: args });
    },
    async init(dir, format) {
      const args = ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '.'];
      const env = { ...own, HOME: dir, GIT_CEILING_DIRECTORIES: dirname(dir) };
      await start(program, [...ALWAYS, ...args], { cwd: dir, env, options: {}, shown: args });
    },
    ask(folder, args, options = {}) {
      const config = environment['XDG_CONFIG_HOME'];
      const env = {
        ...shared,
        ...options.variables,
        HOME: home,
        ...(config !== undefined && { XDG_CONFIG_HOME: config }),
      };
      return start(program, [...QUIET, ...args], { cwd: folder, env, options, shown: args });
    },
    reach(dir, args, options) {
      const { settings, config = [] } = options;
      const env = {
        ...environmentOfUser(environment, settings),
        ...own,
        ...settingsInEnvironment(settings),
        ...options.variables,
        HOME: home,
        GIT_DIR: dir,
        GIT_INDEX_FILE: `${dir}/no-index`,
        GIT_WORK_TREE: `${dir}/no-tree`,
      };
      const ours = config.flatMap((setting) => ['-c', setting]);
      return start(program, [...ALWAYS, ...ours, ...args], { cwd: dir, env, options, shown: args });
    },
    asUser(folder, args) {
      const env = { ...environmentOfUser(environment, []), ...identityIn(environment), PATH: path, ...UNASKED };
      return start(program, args, { cwd: folder, env, options: { exits: ANY_EXIT }, shown: args });
    },
    version() {
      known ??= readVersion(program, own);
      known.catch(() => (known = undefined));
      return known;
    },
  };
}

/** Checks an id before it becomes an argument. */
export function requireId(text: string): ObjectId {
  if (isId(text)) return text;
  throw new TeamError('invalid', `${JSON.stringify(text.slice(0, 80))} is not the id of a commit: give the full id`);
}

/** Whether a text is a whole object id. */
export function isId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Reads the one id that a command printed. */
export function readId({ out, err }: GitResult): ObjectId {
  const text = out.toString('latin1').trim();
  if (isId(text)) return text;
  throw new TeamError(
    'internal',
    `git printed ${JSON.stringify(text.slice(0, 80))} where an id belongs: ${err.trim()}`,
  );
}

/** The lines of an output. */
export function splitLines(out: Buffer): string[] {
  return out.toString().split('\n').filter(Boolean);
}

/** Splits the output of `-z`. */
export function splitZero(out: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < out.length;) {
    const zero = out.indexOf(0, from);
    const end = zero === -1 ? out.length : zero;
    parts.push(out.subarray(from, end));
    from = end + 1;
  }
  return parts;
}

async function readVersion(program: string, env: Readonly<Record<string, string>>): Promise<string> {
  const options = { timeoutMs: 60_000 };
  const { out } = await start(program, ['--version'], { cwd: '/', env, options, shown: ['--version'] });
  const [, version = '', major = '', minor = ''] = /((\d+)\.(\d+)[\w.]*)/.exec(out.toString()) ?? [];
  const [least = 0, then = 0] = OLDEST_GIT.split('.').map(Number);
  if (Number(major) > least || (Number(major) === least && Number(minor) >= then)) return version;
  throw new TeamError(
    'unsupported',
    `Own workspaces need git ${OLDEST_GIT} or later, and this is ${version || 'another program'}: update git, or set workspaces: shared`,
  );
}
