import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { buildUi } from '../../scripts/build-ui.ts';
import { Client } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { BIN, connect, environmentFor, serve, temporaryHome } from '../daemon/serve.ts';
import type { Served } from '../daemon/serve.ts';
import { isInstalled } from '../tools.ts';
import { until } from '../until.ts';

/** Builds the dashboard before the tests of a file, if one of its sources is newer than the build. */
export function useDashboard(): void {
  beforeAll(() => buildUi({ ifStale: true }));
}

/** A daemon, and a client that does what others on the team would. */
export interface Stage {
  readonly home: Home;
  readonly daemon: Pick<Served, 'url' | 'pid'>;
  readonly client: Client;
}

/** The stage of one test, which may kill its daemon. */
export interface OwnStage extends Stage {
  readonly daemon: Served;
}

/** Where a stage keeps Claude Code's own teams; a test never uses those of the machine. */
export function nativeRoot(home: Home): string {
  return join(home.directory, '../claude');
}

/** Starts the daemon of a stage, also again after it was killed. */
export function startStage(home: Home): Promise<Served> {
  return serve(home, { env: { CLAUDE_CONFIG_DIR: nativeRoot(home) } });
}

/** Sets a stage for one test; `prepare` may write to the home before the daemon starts. */
export async function setStage(prepare?: (home: Home) => Promise<void>): Promise<OwnStage> {
  const home = temporaryHome();
  await prepare?.(home);
  const daemon = await startStage(home);
  return { home, daemon, client: connect(home, { patience: Infinity }) };
}

/**
 * One stage for all tests of a file, each with a team of its own. A daemon takes as long to start as a test takes, and
 * a page of another daemon has to load and compile everything again.
 */
export function useStage(prepare?: (home: Home) => Promise<void>): () => Stage {
  useDashboard();
  let stage: Stage | undefined;
  let end: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    if (!isInstalled('chromium')) return;
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
    const home = homeAt(join(folder, 'home'));
    mkdirSync(home.directory, { mode: 0o700 });
    await prepare?.(home);
    const child = spawn(process.execPath, [BIN, 'serve', '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environmentFor(home, { CLAUDE_CONFIG_DIR: nativeRoot(home) }),
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), {
      patience: Infinity,
    });
    end = async () => {
      client.close();
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
    const line = await until('the daemon of the file is ready', () => {
      if (child.exitCode !== null) throw new Error(`The daemon ended with ${child.exitCode}`);
      return /^.*\n/.exec(printed)?.[0];
    });
    const { url } = JSON.parse(line) as { url: string };
    stage = { home, daemon: { url, pid: child.pid as number }, client };
  });
  afterAll(() => end?.());
  return () => stage as Stage;
}
