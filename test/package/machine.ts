import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { openProcessTable } from '../../src/agents/process-table.ts';
import { findPrograms } from '../tools.ts';
import { startRegistry } from './registry.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What a machine has besides Node: npm, what the guide finds there, and a few of the programs that every system has. */
const PROGRAMS = [
  'npm',
  'git',
  'tmux',
  'bwrap',
  'sh',
  'env',
  'cat',
  'chmod',
  'grep',
  'head',
  'mkdir',
  'mv',
  'rm',
  'sed',
];

/** What a command printed, and its exit code. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine on which Troupe was never built: Node, little else, and a person with a home. */
export class Machine {
  /** With a short name: what a command prints about longer paths is wrapped. */
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'pc-')));
  readonly home = join(this.folder, 'you');
  /** Its only programs, before anything is installed. */
  readonly bin = join(this.folder, 'bin');
  /** Where `npm install -g` installs. */
  readonly prefix = join(this.folder, 'prefix');
  /** The installed package. */
  readonly package = join(this.prefix, 'lib/node_modules/troupe');
  readonly temporary = join(this.folder, 'tmp');
  readonly env: Readonly<Record<string, string>>;

  constructor(registry: string) {
    for (const path of [this.home, this.bin, this.prefix, this.temporary]) mkdirSync(path);
    // A copy: Node tells programs where it is, and a link would lead to the checkout.
    copyFileSync(process.execPath, join(this.bin, 'node'));
    for (const name of PROGRAMS) {
      const [path] = findPrograms(name);
      if (path !== undefined) symlinkSync(path, join(this.bin, name));
    }
    writeFileSync(
      join(this.home, '.gitconfig'),
      '[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n',
    );
    // What tells a process of this run of the tests that stays behind (test/setup/leaks.ts).
    const marks = ['TROUPE_TEST_RUN', 'TROUPE_TEST_FILE'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    this.env = {
      ...Object.fromEntries(marks),
      HOME: this.home,
      PATH: `${join(this.prefix, 'bin')}:${this.bin}`,
      TMPDIR: this.temporary,
      LC_ALL: 'C.UTF-8',
      npm_config_prefix: this.prefix,
      npm_config_registry: registry,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    };
  }

  /** Runs a line of a shell, without a terminal. */
  run(line: string, cwd = this.home): Promise<Ended> {
    return new Promise((resolve) => {
      execFile('/bin/sh', ['-c', line], { cwd, env: this.env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  /** The processes of its person. */
  processes(): { pid: number; command: string }[] {
    return openProcessTable()
      .withVariable('HOME')
      .filter(({ marker }) => marker === this.home);
  }

  /** The paths of this checkout that one of its processes has open or mapped, runs, or was started with. */
  pathsOfCheckout(): string[] {
    return this.processes().flatMap(({ pid }) => {
      const at = (name: string): string => join('/proc', String(pid), name);
      const files = ['cwd', 'exe', ...ifThere(() => readdirSync(at('fd')), []).map((name) => `fd/${name}`)];
      const links = files.map((name) => ifThere(() => readlinkSync(at(name)), ''));
      const texts = ['cmdline', 'environ', 'maps'].map((name) => ifThere(() => readFileSync(at(name), 'utf8'), ''));
      const paths = [...links, ...texts.flatMap((text) => text.split(/[\0\n]/))];
      return paths.filter((path) => path.includes(`${ROOT}/`));
    });
  }
}

/** One machine for all tests of a file. */
export function useMachine(): () => Machine {
  let machine: Machine | undefined;
  beforeAll(async () => {
    const registry = await startRegistry();
    const made = (machine = new Machine(registry.url));
    return async () => {
      registry.close();
      // What a test that failed left running.
      if (existsSync(join(made.prefix, 'bin/troupe'))) await made.run('troupe stop --all');
      rmSync(made.folder, { recursive: true, force: true, maxRetries: 5 });
    };
  });
  return () => machine as Machine;
}

/** What is read about a process; nothing if it has ended meanwhile, or closed the file. */
function ifThere<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}
