import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Client } from '../../src/client/client.ts';
import type { ClientOptions } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { linesOf } from '../lines-of.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HANG_MS, until } from '../until.ts';
import { track } from './processes.ts';
import type { Running } from './processes.ts';

/** The command line, as people call it. */
export const BIN = join(import.meta.dirname, '../../bin/troupe.js');

/** A daemon in a process of its own. */
export interface Served extends Running {
  readonly url: string;
}

/** A state directory for the running test alone. */
export function temporaryHome(): Home {
  const directory = join(temporaryFolder(), 'home');
  mkdirSync(directory, { mode: 0o700 });
  return homeAt(directory);
}

/** The environment of a command: this home, and the code under test (vitest.config.ts). */
export function environmentFor(home: Home, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    ...process.env,
    TROUPE_HOME: home.directory,
    NODE_COMPILE_CACHE: COMPILED_CODE,
    ...more,
  };
}

/** How a daemon is started. */
export interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the daemon in its place, such as `unshare -n`. */
  readonly enter?: readonly string[];
}

/** Runs `troupe serve` without waiting for anything. */
export function spawnServe(home: Home, { args = [], env = {}, enter = [] }: ServeOptions = {}): Running {
  const [program, ...rest] = [...enter, process.execPath, BIN, 'serve', '--json', ...args] as [string, ...string[]];
  return track(spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: environmentFor(home, env) }));
}

/** Runs `troupe serve` and waits until it is ready. */
export async function serve(home: Home, options: ServeOptions = {}): Promise<Served> {
  const running = spawnServe(home, options);
  const line = await until(`the daemon is ready: ${running.output.stderr}`, () => {
    if (running.child.exitCode !== null) throw new Error(`The daemon ended: ${running.output.stderr}`);
    return /^.*\n/.exec(running.output.stdout)?.[0];
  });
  return { ...running, url: (JSON.parse(line) as { url: string }).url };
}

/** A client over the Unix socket, closed when the test ends. It waits as long as needed for a daemon that starts. */
export function connect(home: Home, options: ClientOptions = {}): Client {
  const dial = socketConnect({ path: home.socket, token: { file: home.tokenFile } });
  const client = new Client(dial, { patience: HANG_MS, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Sends a GET request with the daemon's own token. */
export async function get(home: Home, url: string): Promise<Response> {
  const token = readFileSync(home.tokenFile, 'utf8').trim();
  return fetch(url, { headers: { authorization: `Bearer ${token}` } });
}

/** The lines of the daemon's log that are JSON. */
export function readLog(home: Home): Record<string, unknown>[] {
  return linesOf(home.log).flatMap((line) =>
    line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [],
  );
}
