import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { FindWait } from './waits.ts';

/** What an agent is started with, and how it is asked whether it waits. */
export interface Aside {
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

/**
 * `opencode acp` also serves HTTP on loopback, where everybody could use it: so it gets a password. We choose its port, to
 * ask it there what it does not say over ACP: that it waits for its model. In a sandbox with a network of its own it cannot
 * be asked.
 */
export async function openCodeServer(given: Readonly<Record<string, string>>): Promise<Aside> {
  const port = await freePort();
  const { [PASSWORD]: password = randomBytes(24).toString('base64url'), [USER]: user = 'opencode' } = given;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return {
    args: ['--port', String(port)],
    env: { [PASSWORD]: password },
    async findWait(sessionId) {
      const response = await fetch(`http://127.0.0.1:${port}/session/status`, {
        headers: { authorization },
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const { [sessionId]: status } = Statuses.parse(await response.json());
      if (status?.type !== 'retry' || status.next === undefined) return undefined;
      return { reason: `the model is not available (${status.message ?? 'no reason was given'})`, until: status.next };
    },
  };
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
