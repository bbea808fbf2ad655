// A daemon that has loaded its code and waits for a line before it starts, so that it replaces a killed one at once.
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { homeAt } from '../../../src/client/home.ts';

const [folder = ''] = process.argv.slice(2);
const { startDaemon } = await import('../../../src/daemon.ts');
// Node writes the cache at exit, but this process is killed.
flushCompileCache();
process.stdout.write('loaded\n');
await once(process.stdin, 'data');
await startDaemon({ home: homeAt(folder) });
process.stdout.write('ready\n');
