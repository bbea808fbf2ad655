import { createServer, get as httpGet, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openForward, openProxy } from '../../src/agents/sandbox/network.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('the proxy of a sandbox', () => {
  test('opens a tunnel to an allowed port, and to no other', async () => {
    const port = await serve('hello');
    const path = await proxy([`127.0.0.1:${port}`]);
    expect(await tunnel(path, `127.0.0.1:${port}`)).toMatch(/^HTTP\/1.1 200 .*hello$/s);
    expect(await tunnel(path, `localhost:${port}`)).toMatch(/hello$/);
    expect(await tunnel(path, `127.0.0.1:${await serve('other')}`)).toMatch(/^HTTP\/1.1 403 .*sandbox\.network/s);
  });

  test('forwards plain requests in the same way', async () => {
    const port = await serve('hello');
    const path = await proxy([`127.0.0.1:${port}`]);
    expect(await plain(path, `http://127.0.0.1:${port}/x`)).toEqual([200, 'hello']);
    expect((await plain(path, `http://127.0.0.1:${await serve('other')}/`))[0]).toBe(403);
    expect((await plain(path, '/x'))[0]).toBe(403);
  });

  test('lets no list of all hosts lead to this machine or its network, whatever the name is', async () => {
    const port = await serve('secret');
    const path = await proxy(['*']);
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
      '10.0.0.1',
    ]) {
      expect(await tunnel(path, `${host}:${port}`)).toMatch(/^HTTP\/1.1 403/);
    }
  });

  test('looks at the address behind a name', async () => {
    const port = await serve('secret');
    // The name of this machine is an address of loopback in every hosts file; the rule names it, but not as loopback.
    const path = await proxy(['ip6-localhost', 'ip6-loopback', '*']);
    for (const host of ['ip6-localhost', 'ip6-loopback']) {
      expect(await tunnel(path, `${host}:${port}`)).not.toMatch(/^HTTP\/1.1 200/);
    }
  });

  test('follows a list that changes', async () => {
    const port = await serve('hello');
    const allowed: string[] = [];
    const path = await proxy(allowed);
    expect(await tunnel(path, `127.0.0.1:${port}`)).toMatch(/403/);
    allowed.push(`127.0.0.1:${port}`);
    expect(await tunnel(path, `127.0.0.1:${port}`)).toMatch(/hello$/);
  });
});

test('a forwarded socket leads to whoever listens there now', async () => {
  const folder = temporaryFolder();
  const target = join(folder, 'daemon.sock');
  const path = join(folder, 'own.sock');
  const forward = await openForward(path, target);
  onTestFinished(() => forward.close());
  await expect(ask(path)).rejects.toThrow();
  for (const text of ['first', 'second']) {
    const server = createServer((_, answer) => answer.end(text));
    await new Promise<void>((resolve) => server.listen(target, resolve));
    expect(await ask(path)).toBe(text);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function proxy(allowed: readonly string[]): Promise<string> {
  const path = join(temporaryFolder(), 'net.sock');
  const opened = await openProxy(path, () => allowed);
  onTestFinished(() => opened.close());
  return path;
}

async function serve(text: string): Promise<number> {
  const server = createServer((_, answer) => answer.end(text));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Asks for a tunnel, then for a page through it; returns all that came. */
function tunnel(path: string, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(path);
    let text = '';
    socket.once('error', reject);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const isFirst = text === '';
      text += chunk;
      if (isFirst && chunk.startsWith('HTTP/1.1 200')) socket.write('GET / HTTP/1.0\r\n\r\n');
    });
    socket.once('close', () => resolve(text));
  });
}

function plain(socketPath: string, path: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve([answer.statusCode ?? 0, text]));
    });
    asked.once('error', reject);
    asked.end();
  });
}

function ask(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = httpGet({ socketPath, path: '/', agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve(text));
    });
    asked.once('error', reject);
  });
}
