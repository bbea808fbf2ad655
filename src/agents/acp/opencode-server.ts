import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { z } from 'zod';
import type { StartOptions } from '../agent.ts';
import type { FindWait } from './waits.ts';

/** What an agent is started with, and how it is asked whether it waits. */
export interface Aside {
  /** The port of loopback on which it is asked. */
  readonly port: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly findWait: FindWait;
}

const PASSWORD = 'OPENCODE_SERVER_PASSWORD';
const USER = 'OPENCODE_SERVER_USERNAME';

const Statuses = z.record(
  z.string(),
  z.looseObject({ type: z.string(), message: z.string().optional(), next: z.number().optional() }),
);

const ANSWER_MS = 5_000;
const ANSWER_CHARS = 1024 * 1024;

/**
 * `opencode acp` also serves HTTP on loopback, where everybody could use it: so it gets a password. We choose its port, to
 * ask it there what it does not say over ACP: that it waits for its model.
 */
export async function openCodeServer({ env, sandbox }: Pick<StartOptions, 'env' | 'sandbox'>): Promise<Aside> {
  const port = await freePort();
  const { [PASSWORD]: password = randomBytes(24).toString('base64url'), [USER]: user = 'opencode' } = env;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return {
    port,
    args: ['--port', String(port)],
    env: { [PASSWORD]: password },
    async findWait(sessionId) {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const way = await sandbox?.reach?.(port, signal);
      const text = await get(way, { port, headers: { authorization }, signal }).finally(() => way?.destroy());
      const { [sessionId]: status } = Statuses.parse(JSON.parse(text));
      if (status?.type !== 'retry' || status.next === undefined) return undefined;
      return { reason: `the model is not available (${status.message ?? 'no reason was given'})`, until: status.next };
    },
  };
}

/** The text that it answers. Whatever answers in a sandbox may be anything. */
async function get(way: Socket | undefined, options: RequestOptions): Promise<string> {
  const connection = way ? { createConnection: () => way } : { agent: false as const };
  const asked = request({ host: '127.0.0.1', path: '/session/status', ...options, ...connection }).end();
  // It may also end after its answer has begun; then the answer says so.
  asked.on('error', () => {});
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of answer.setEncoding('utf8')) {
    text += part as string;
    if (text.length > ANSWER_CHARS) throw new Error('The answer is too long');
  }
  return text;
}

/** It may be taken before the program has it; then the program does not start, and is started again. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
