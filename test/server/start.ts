import { join } from 'node:path';
import { onTestFinished } from 'vitest';
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

/** Starts a server in this process, on a home of its own; it stops with the test. */
export async function startServer(options: StartOptions = {}): Promise<Server> {
  const { directory = join(temporaryFolder(), 'home'), journal = memoryJournal(), ...rest } = options;
  const server = await openServer(directory, journal, rest);
  onTestFinished(() => server.stop());
  return server;
}
