// A daemon that has loaded its code and waits for a line to start, so that the one before it is followed at once.
import { once } from 'node:events';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { homeAt } from '../../../src/client/home.ts';

const [folder = '', cache = ''] = process.argv.slice(2);
enableCompileCache(cache);
const { startDaemon } = await import('../../../src/daemon.ts');
flushCompileCache();
process.stdout.write('loaded\n');
await once(process.stdin, 'data');
await startDaemon({ home: homeAt(folder) });
process.stdout.write('ready\n');
