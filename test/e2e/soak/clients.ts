import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { Client } from '../../../src/client/client.ts';
import { socketConnect } from '../../../src/client/socket.ts';
import { count } from './ground.ts';
import type { Ground } from './ground.ts';
import { pick } from './teams.ts';

/** A member that no process plays. Nothing is ever reserved for it, so a claim of it waits. */
export const GUEST = 'guest';

type Visit = (on: Ground, teamId: string) => Promise<void>;

/** What clients do, each in a connection of its own, and how they vanish. */
export const VISITS: Readonly<Record<string, Visit>> = {
  async 'reads and hangs up'(on, teamId) {
    const client = connect(on);
    await client.call('team.report', { teamId });
    client.close();
  },
  async 'follows, then hangs up without a word'(on, teamId) {
    const client = connect(on);
    let batches = 0;
    for await (const { seq } of client.subscribe(teamId, { after: 0 })) if (seq >= 3 || ++batches > 2) break;
    client.close();
  },
  async 'waits for a task, then hangs up'(on, teamId) {
    const client = connect(on);
    const claim = client.call('task.claim', { teamId, wait: 60_000 }, { as: GUEST }).catch(() => {});
    await client.call('team.show', { teamId });
    client.close();
    await claim;
  },
  async 'waits for mail, then cancels'(on, teamId) {
    const client = connect(on);
    const stop = new AbortController();
    const claim = client
      .call('task.claim', { teamId, wait: 60_000 }, { as: GUEST, signal: stop.signal })
      .catch(() => {});
    await client.call('team.show', { teamId });
    stop.abort();
    await claim;
    client.close();
  },
  async 'breaks off in the middle of a line'({ home }) {
    const socket = createConnection(home.socket);
    await once(socket, 'connect');
    socket.write('{"type":"hello","payload":{"tok');
    socket.destroy();
    await once(socket, 'close');
  },
  async 'opens a WebSocket and breaks it'(on, teamId) {
    const headers = { authorization: `Bearer ${tokenOf(on)}` };
    const socket = new WebSocket(`${on.url.replace('http', 'ws')}/ws`, { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', payload: { teamId, after: 0 } }));
    await once(socket, 'message');
    socket.terminate();
  },
  async 'opens an event stream and leaves it'(on, teamId) {
    const answer = await request(on, `/api/teams/${teamId}/events`);
    await once(answer, 'data');
    answer.destroy();
  },
  async 'asks over REST'(on, teamId) {
    await text(await request(on, `/api/teams/${teamId}/report`));
    await text(await request(on, '/metrics'));
  },
  async 'is refused'(on) {
    await text(await request(on, '/api/status', { headers: { authorization: 'Bearer wrong' } }));
  },
  async 'begins a session of the team tools and forgets it'(on) {
    const clientInfo = { name: 'a client', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    await text(await request(on, '/mcp', { method: 'POST', headers }, body));
  },
  async 'asks for the dashboard'(on) {
    const client = connect(on);
    await client.call('ui.login', {});
    client.close();
  },
};

/** One of them, by chance. */
export async function visit(on: Ground, teamId: string): Promise<void> {
  await VISITS[pick(on, Object.keys(VISITS))]?.(on, teamId);
  count(on, 'visits');
}

/** All of them. */
export async function visitInAllWays(on: Ground, teamId: string): Promise<void> {
  for (const come of Object.values(VISITS)) await come(on, teamId);
}

function connect({ home }: Ground): Client {
  return new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), { patience: 60_000 });
}

interface Asking {
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Over a connection of its own, which `fetch` would keep for later. */
async function request(on: Ground, path: string, options: Asking = {}, body = ''): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${tokenOf(on)}`, ...options.headers };
  const asking = httpRequest(`${on.url}${path}`, { agent: false, ...options, headers });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return answer;
}

function tokenOf({ home }: Ground): string {
  return readFileSync(home.tokenFile, 'utf8').trim();
}
