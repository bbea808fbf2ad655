import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openServer } from './house.ts';
import type { Server, ServerOptions } from './house.ts';

/** How a server is started. */
export interface StartOptions extends ServerOptions {
  readonly directory?: string;
  readonly journal?: Journal;
}

/** Starts a server in this process, with its own home; it stops with the test. */
export async function startServer(options: StartOptions = {}): Promise<Server> {
  const { directory = join(temporaryFolder(), 'home'), journal = memoryJournal(), ...rest } = options;
  const server = await openServer(directory, journal, rest);
  onTestFinished(() => server.stop());
  return server;
}

/** One server for all tests of a `describe`, prepared once: starting one takes longer than most tests. */
export function shareServer<T>(options: ServerOptions, prepare: (server: Server) => Promise<T>): () => T {
  let prepared: T;
  beforeAll(async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
    const server = await openServer(join(folder, 'home'), memoryJournal(), options);
    prepared = await prepare(server);
    return async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
  });
  return () => prepared;
}
