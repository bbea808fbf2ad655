import { join } from 'node:path';
import { expect } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { turn } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import type { ModelRequest, ModelServer } from '../models/script.ts';
import { lastResult, steps } from './real.ts';

/** A server of tools of a member's own, as a start option. */
export const WHISPERS: Pick<StartOptions, 'servers'> = {
  servers: {
    whispers: { command: [process.execPath, join(import.meta.dirname, 'mcp-server.ts')], env: { GREETING: 'hello' } },
  },
};

/** What an agent was given beside its program, and how its model sees it. */
export interface Extras {
  readonly start: Pick<StartOptions, 'effort' | 'ownTools'>;
  /** It asks before it calls a tool that its server does not call harmless. */
  readonly asks: boolean;
  /** A tool that it had before and lacks because of that. */
  readonly lacks?: string;
  /** The effort in a request to its model. */
  readonly effort?: (body: unknown) => unknown;
}

/** Checks that an agent which was started with its extras and the server above has just these. */
export async function expectExtras(
  session: Heard,
  model: ModelServer,
  { start, asks, lacks, effort }: Extras,
): Promise<void> {
  model.use(steps(whisper, (request) => ({ text: `heard ${lastResult(request)}` })));
  const before = session.ends().length;
  await session.send(turn('whisper'), { when: 'next' });
  if (asks) (await session.heardPermission()).answer({ allow: true });
  expect(await session.end(before + 1)).toMatchObject({
    reason: 'done',
    text: expect.stringContaining('whispered hello') as string,
  });
  const last = model.requests.at(-1) as ModelRequest;
  if (lacks !== undefined) {
    expect(last.tools).not.toContain(lacks);
    expect(model.requests.flatMap(({ tools }) => tools)).toContain(lacks);
  }
  if (effort) expect(effort(last.body)).toBe(start.effort);
}

function whisper({ tools }: ModelRequest) {
  return { calls: [{ name: tools.find((tool) => tool.endsWith('whisper')) ?? 'no such tool', input: {} }] };
}
