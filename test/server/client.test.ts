import { describe, expect, test } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { webSocketConnect } from '../../src/client/websocket.ts';
import { startServer } from './start.ts';
import type { Server } from './start.ts';

describe.each(['unix', 'ws'] as const)('the client over %s', (kind) => {
  const connect = ({ home, url, token }: Server) =>
    new Client(
      kind === 'unix'
        ? socketConnect({ path: home.socket, token: { file: home.tokenFile } })
        : webSocketConnect({ url: `${url.replace('http', 'ws')}/ws`, token }),
    );

  test('calls and follows', async () => {
    const server = await startServer();
    const client = connect(server);
    expect(await client.call('team.create', { name: 'demo' })).toMatchObject({ id: 'demo' });
    const seen: number[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const { seq } of client.subscribe('demo', { signal: stop.signal })) {
        seen.push(seq);
        if (seq === 4) stop.abort();
      }
    })();
    for (const title of ['a', 'b', 'c']) await client.call('task.create', { teamId: 'demo', title });
    await following;
    expect(seen).toEqual([1, 2, 3, 4]);
    client.close();
    expect(server.errors).toEqual([]);
  });
});
