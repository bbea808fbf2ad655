import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TeamError } from '../../core/errors.ts';
import type { SandboxSettings } from '../../core/sandbox.ts';
import type { Variables } from '../../core/variables.ts';
import { findProgram } from '../program.ts';
import type { Login } from '../row.ts';
import { findUserHome } from '../user-home.ts';
import type { Mount, Walls } from './mounts.ts';

/** A program that runs in a sandbox, and what is known about it. */
export interface Inmate {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Variables;
  readonly settings: SandboxSettings;
  /** The state directory of the daemon: hidden, apart from workspaces, what they borrow and the command `troupe`. */
  readonly state: string;
  /** The folder of this sandbox: its sockets and its credential. */
  readonly box: string;
  /** How its agent logs in. */
  readonly login?: Login | undefined;
}

/** Folders of the system that hold sockets and files of other programs: a sandbox has its own. */
const OWN_FOLDERS = ['/tmp', '/var/tmp', '/run', '/dev/shm'];

/** Programs, where they are in such a folder. */
const SYSTEM_PROGRAMS = ['/run/current-system'];

/** Of the user's settings, what programs in a workspace need: git refuses to commit without a name. */
const OF_HOME = ['.gitconfig', '.config/git/config'];

/** What decides what git runs in a checkout of the user. */
const GIT_RUNS = ['config', 'hooks'];

/** The package that this file is a part of; it also runs inside. */
const OURS = fileURLToPath(new URL('../../..', import.meta.url));

/** What a program in a sandbox sees of the file system. Refuses what a sandbox cannot close off. */
export function wallsOf(inmate: Inmate): Walls {
  const { command, env, settings, box, login } = inmate;
  const state = realpathSync(inmate.state);
  const homes = homesOf(env);
  const own = workFolder(inmate, { state, homes });
  const named = namedPaths(settings, { home: findUserHome(env), state });
  const programs = [process.execPath, join(OURS, 'package.json'), command[0] ?? ''].flatMap((program) =>
    foldersOfProgram(program, inmate, homes),
  );
  const read = [
    ...SYSTEM_PROGRAMS,
    ...OF_HOME.map((name) => join(findUserHome(env), name)),
    ...pathFolders(env),
    ...programs,
    ...named.read,
  ];
  const mounts: Mount[] = [
    ...mountsOf('hidden', [...OWN_FOLDERS, ...homes]),
    ...mountsOf('read', read),
    ...mountsOf('write', named.write),
    ...(login ? loginMounts(login, env) : []),
    { path: state, as: 'hidden' },
    ...mountsOf('read', [join(state, 'launcher')]),
    ...own.mounts,
    { path: realpathSync(box), as: 'read' },
  ];
  return { mounts, cwd: own.cwd };
}

/** Mounts of what exists, by its real path: a sandbox is made of those. */
function mountsOf(as: Mount['as'], paths: readonly string[]): Mount[] {
  return paths.flatMap((path) => (existsSync(path) ? { path: realpathSync(path), as } : []));
}

/** The home of the user, by its variable and by what the system says: they may differ. */
function homesOf(env: Variables): string[] {
  const homes = [findUserHome(env), homedir(), userInfo().homedir];
  return [...new Set(homes.flatMap((home) => (existsSync(home) ? realpathSync(home) : [])))].filter(
    (home) => home !== '/',
  );
}

/** Whether a path is a folder or lies in it. */
function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

interface Around {
  readonly state: string;
  readonly homes: readonly string[];
}

/** The folder in which it works, and what git needs around it. */
function workFolder({ cwd, state: named }: Inmate, around: Around): { cwd: string; mounts: Mount[] } {
  const real = realpathSync(cwd);
  const covers = [...around.homes, around.state].find((one) => isIn(real, one));
  if (covers !== undefined) {
    throw new TeamError(
      'invalid',
      `A sandbox cannot have ${cwd} as its work folder: it would open all of ${covers}. Choose a folder in it (cwd)`,
    );
  }
  if (isIn(around.state, real) || isIn(named, cwd)) return workspaceOf(cwd, { real, named, state: around.state });
  const top = topOf(real, (folder) => ![...around.homes, '/'].some((one) => isIn(folder, one)));
  const git = join(top ?? real, '.git');
  const isFolder = lstatSync(git, { throwIfNoEntry: false })?.isDirectory() === true;
  return {
    cwd: real,
    mounts: [
      ...(top !== undefined && top !== real ? mountsOf('read', [top]) : []),
      ...(isFolder ? mountsOf('write', [git]) : []),
      { path: real, as: 'write' },
      ...(isFolder ? protectedIn(git, GIT_RUNS) : []),
    ],
  };
}

/** A workspace is writable as a whole. A member may have put a link in the place of one of its folders. */
function workspaceOf(
  cwd: string,
  { real, named, state }: { real: string; named: string; state: string },
): { cwd: string; mounts: Mount[] } {
  const place = isIn(named, cwd) ? join(state, relative(named, cwd)) : cwd;
  if (place !== real) throw new TeamError('invalid', `A sandbox cannot have ${cwd} as its work folder: it is a link`);
  const top = topOf(real, (folder) => folder !== state && isIn(state, folder)) ?? real;
  return { cwd: real, mounts: [{ path: top, as: 'write' }, ...mountsOf('read', borrowed(top, state))] };
}

/** The nearest folder with a `.git`, from here upwards. */
function topOf(folder: string, isAllowed: (folder: string) => boolean): string | undefined {
  for (let here = folder; isAllowed(here); here = dirname(here)) {
    if (existsSync(join(here, '.git'))) return here;
    if (here === dirname(here)) return undefined;
  }
  return undefined;
}

/**
 * The objects that a workspace borrows. The member can write the list in its `.git`, and could name the depot of another
 * project there, so the daemon's own record counts: `indexes` has one for each folder in `workspaces`.
 */
function borrowed(top: string, state: string): string[] {
  const [team = '', member = ''] = relative(join(state, 'workspaces'), top).split('/');
  const { depot } = readRecord(join(state, 'indexes', team, member, 'state.json'));
  if (typeof depot !== 'string' || !/^[\w-]+$/.test(depot)) return [];
  const objects = join(state, 'depots', `${depot}.git`, 'objects');
  return [objects, ...alternatesIn(objects)];
}

function readRecord(path: string): { depot?: unknown } {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { depot?: unknown };
  } catch {
    return {};
  }
}

function alternatesIn(objects: string): string[] {
  try {
    return readFileSync(join(objects, 'info', 'alternates'), 'utf8')
      .split('\n')
      .filter(Boolean);
  } catch {
    return [];
  }
}

/** What the settings open. */
function namedPaths(
  { read = [], write = [] }: SandboxSettings,
  { home, state }: { home: string; state: string },
): { read: string[]; write: string[] } {
  requireWritten(write, home);
  requireOutside([...read, ...write], { home, state });
  const full = (path: string): string => inHome(path, home);
  return { read: read.map(full), write: write.map(full) };
}

/** Refuses to open the state directory: it has the journal, credentials and the work of others. */
export function requireOutside(paths: readonly string[], { home, state }: { home: string; state: string }): void {
  const top = existsSync(state) ? realpathSync(state) : state;
  for (const path of paths) {
    const named = inHome(path, home);
    if (isIn(top, existsSync(named) ? realpathSync(named) : named)) {
      refuse(`A sandbox cannot open ${path}: it is in the state directory of Troupe`);
    }
  }
}

/** Refuses to open what does not exist: nothing can be written there. */
export function requireWritten(write: readonly string[], home: string): void {
  const missing = write.find((path) => !existsSync(inHome(path, home)));
  if (missing === undefined) return;
  refuse(`A sandbox cannot let a program write ${missing}: it does not exist. Make it first`);
}

function refuse(message: string): never {
  throw new TeamError('invalid', message, { facts: { setting: 'sandbox' } });
}

function inHome(path: string, home: string): string {
  return path.startsWith('~') ? join(home, path.slice(1)) : path;
}

/** The folders of the PATH, with the packages of npm beside them. */
function pathFolders({ PATH = '' }: Variables): string[] {
  return PATH.split(':').flatMap((folder) => {
    if (!folder.startsWith('/')) return [];
    return basename(folder) === 'bin' ? [folder, join(dirname(folder), 'lib/node_modules')] : [folder];
  });
}

/** What a program needs to be found and to run: its folder, or all packages around it. */
function foldersOfProgram(program: string, { cwd, env }: Inmate, homes: readonly string[]): string[] {
  const file = program.startsWith('/') ? program : findProgram(program, { cwd, env });
  if (file === undefined || !existsSync(file)) return [];
  const real = realpathSync(file);
  const packages = real.indexOf('/node_modules/');
  if (packages >= 0) return [dirname(file), real.slice(0, packages + '/node_modules'.length)];
  return [file, real].map((path) => (homes.some((home) => isIn(dirname(path), home)) ? path : dirname(path)));
}

/** The folder of an agent's login. Its settings, which name programs, stay as they are. */
function loginMounts({ folder, keeps }: Login, env: Variables): Mount[] {
  const place = resolve(env[folder.variable] || join(findUserHome(env), folder.fallback));
  // The conversations of the agent are kept there: without it, no later session could resume one.
  for (const name of keeps.write) mkdirSync(join(place, name), { recursive: true, mode: 0o700 });
  return [
    ...(keeps.read ?? []).flatMap((name) => readableIn(resolve(findUserHome(env), name))),
    ...mountsOf(
      'write',
      keeps.write.map((name) => join(place, name)),
    ),
    ...protectedIn(place, keeps.settings),
  ];
}

/**
 * What is in a folder can be read. The folder itself can be written, as long as the sandbox lives: OpenCode does not start
 * if it cannot put a file there.
 */
function readableIn(folder: string): Mount[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return mountsOf('read', [folder]);
  // macOS has no folder that only the sandbox sees.
  if (process.platform === 'darwin') return mountsOf('read', [folder]);
  const names = readdirSync(folder);
  return [...mountsOf('hidden', [folder]), ...protectedIn(folder, names)];
}

/** Files that can only be read in a folder that can be written. A link is left alone: it leads out of the sandbox. */
function protectedIn(folder: string, names: readonly string[]): Mount[] {
  const paths = names.map((name) => join(folder, name));
  const isPlain = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false;
  return mountsOf('read', paths.filter(isPlain));
}
