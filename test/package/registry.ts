import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const MODULES = join(import.meta.dirname, '../../node_modules');

/** An npm registry. */
export interface Registry {
  readonly url: string;
  close(): void;
}

/** A registry on loopback with the packages of this checkout, each in one version: a test of `npm install` needs no network. */
export async function startRegistry(): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const [, name = path] = /^(.*)\.tar$/.exec(path) ?? [];
    const manifest = join(MODULES, name, 'package.json');
    if (!existsSync(manifest)) return void response.writeHead(404).end();
    if (name !== path) {
      // npm reads an archive that is not compressed, too, and ignores the name of its only folder.
      const tar = spawn('tar', ['-c', '-C', join(MODULES, name, '..'), name.split('/').at(-1) ?? '']);
      return void tar.stdout.pipe(response);
    }
    const { version, ...rest } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    const dist = { tarball: `${url}${name}.tar` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...rest, version, dist } } }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url, close };
}
