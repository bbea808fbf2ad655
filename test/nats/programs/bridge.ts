// Listens on a port of its network namespace and forwards everything to a Unix socket, which works across namespaces.
// It ends with its parent.
import { connect, createServer } from 'node:net';
import { passOn } from '../pass-on.ts';

const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 100);

const [port, socket = ''] = process.argv.slice(2);
createServer((client) => passOn(client, connect(socket))).listen(Number(port), '127.0.0.1');
