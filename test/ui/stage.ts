import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { buildUi } from '../../scripts/build-ui.ts';
import type { Client } from '../../src/client/client.ts';
import type { Home } from '../../src/client/home.ts';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';
import type { Served } from '../daemon/serve.ts';

/** Builds the dashboard before the tests of a file, where something it is made of is newer. */
export function useDashboard(): void {
  beforeAll(() => buildUi({ ifStale: true }));
}

/** A daemon of its own for one test, and a client that does what others on the team would. */
export interface Stage {
  readonly home: Home;
  readonly daemon: Served;
  readonly client: Client;
}

/** Where the stage has Claude Code's own teams: never those of the machine. */
export function nativeRoot(home: Home): string {
  return join(home.directory, '../claude');
}

/** Starts the daemon of a stage; once more after it was killed. */
export function startStage(home: Home): Promise<Served> {
  return serve(home, { env: { CLAUDE_CONFIG_DIR: nativeRoot(home) } });
}

/** Sets a stage; `prepare` may write to the home before the daemon starts. */
export async function setStage(prepare?: (home: Home) => Promise<void>): Promise<Stage> {
  const home = temporaryHome();
  await prepare?.(home);
  const daemon = await startStage(home);
  return { home, daemon, client: connect(home, { patience: Infinity }) };
}
