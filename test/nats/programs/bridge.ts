// Listens on a port of its network and passes everything on to a Unix socket, which no network keeps apart. Ends with the
// one who started it.
import { connect, createServer } from 'node:net';
import { passOn } from '../pass-on.ts';

const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 100);

const [port, socket = ''] = process.argv.slice(2);
createServer((client) => passOn(client, connect(socket))).listen(Number(port), '127.0.0.1');
