// A daemon that has loaded its code and waits for a line before it starts, so that it replaces a killed one at once.
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { homeAt } from '../../../src/client/home.ts';
import type * as Daemon from '../../../src/daemon.ts';

const [folder = ''] = process.argv.slice(2);
// What was built starts in half the time, if it is current (vitest.config.ts).
const code = process.env['TROUPE_SOURCE'] === '' ? '../../../dist/daemon.js' : '../../../src/daemon.ts';
const { startDaemon } = (await import(code)) as typeof Daemon;
// Node writes the cache at exit, but this process is killed.
flushCompileCache();
process.stdout.write('loaded\n');
await once(process.stdin, 'data');
await startDaemon({ home: homeAt(folder) });
process.stdout.write('ready\n');
