import { afterAll, beforeAll, describe } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { StartOptions } from '../../src/agents/agent.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { describeDriven } from './driven.ts';
import type { Rig } from './driven.ts';
import { agentProgram } from './installed.ts';
import { makePlace, MANNERS, startIn } from './real.ts';
import type { Place } from './real.ts';
import { opencodeEnvironment } from './setups.ts';

const program = agentProgram('opencode');

describe('opencode', needs(program !== undefined, 'opencode is not installed'), () => {
  let model: ModelServer;
  let place: Place;
  beforeAll(async () => {
    model = await anthropicServer(MANNERS.quick);
    place = makePlace();
  });
  afterAll(async () => {
    await model.close();
    place.remove();
  });

  const agent = () => {
    const opencode = acpAgent({ name: 'opencode', command: [program as string], cancelMs: HANG_MS });
    const start: typeof opencode.start = (options) => opencode.start({ ...options, model: 'scripted/plain' });
    return { ...opencode, start };
  };
  const start = (): StartOptions => startIn(place, opencodeEnvironment(model, place.home));

  const rig: Rig = {
    name: 'opencode',
    model: () => model,
    agent,
    absent: () => acpAgent({ name: 'opencode', command: ['no-such-program'] }),
    place: () => place,
    start,
    shell: (command) => ({ name: 'bash', input: { command, description: 'it is needed' } }),
    write: (filePath) => ({ name: 'write', input: { filePath, content: 'text' } }),
    extras: { start: { ownTools: { deny: ['webfetch'] } }, asks: false, lacks: 'webfetch' },
    used: { inputTokens: 500, cacheReadTokens: 100, outputTokens: 20, costUsd: (500 * 3 + 20 * 15) / 1e6 },
    // It compacts a conversation that is too long by itself.
    troubles: {
      overloaded: { error: { status: 429, message: 'Too many requests', retryAfter: 0 } },
      unauthorised: { error: { status: 401, message: 'invalid x-api-key' } },
      refused: { text: 'I will not do that', refuses: true },
    },
  };
  describeDriven(rig);
});
