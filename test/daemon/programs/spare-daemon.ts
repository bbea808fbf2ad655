// A daemon that has loaded its code and waits for a line to start, so that the one before it is followed at once.
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { homeAt } from '../../../src/client/home.ts';

const [folder = ''] = process.argv.slice(2);
const { startDaemon } = await import('../../../src/daemon.ts');
// It is killed, so nothing would be kept at its end.
flushCompileCache();
process.stdout.write('loaded\n');
await once(process.stdin, 'data');
await startDaemon({ home: homeAt(folder) });
process.stdout.write('ready\n');
