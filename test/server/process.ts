// A server in its own process, to measure its memory. Started with a home and limits; controlled by messages.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { openServer } from './house.ts';
import type { ServerOptions } from './house.ts';

const [directory = '', limits = '{}'] = process.argv.slice(2);
mkdirSync(directory, { mode: 0o700 });
const journal = sqliteJournal(join(directory, 'journal.db'));
const { url, home, token, hub, errors } = await openServer(directory, journal, {
  limits: JSON.parse(limits) as NonNullable<ServerOptions['limits']>,
});

process.on('message', (asked) => {
  // Takes 0.1 s, and only the memory depends on it.
  if (asked === 'memory') globalThis.gc?.();
  process.send?.({
    rss: process.memoryUsage.rss(),
    connections: hub.connections,
    cut: hub.counters.cut,
    errors: errors.length,
  });
});
process.once('disconnect', () => process.exit());
process.send?.({ url, socket: home.socket, token });
