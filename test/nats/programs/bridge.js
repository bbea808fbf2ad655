// Listens on a port of its network and passes everything on to a Unix socket, which no network keeps apart. Ends with the
// one who started it.
import { connect, createServer } from 'node:net';

const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 100);

const [port, socket] = process.argv.slice(2);
createServer((client) => {
  const upstream = connect(socket);
  for (const one of [client, upstream]) {
    one.on('error', () => {});
    one.on('close', () => {
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream).pipe(client);
}).listen(Number(port), '127.0.0.1');
