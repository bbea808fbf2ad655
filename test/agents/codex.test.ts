import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { codexAgent } from '../../src/agents/codex.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { describeDriven } from './driven.ts';
import type { Rig } from './driven.ts';
import { agentProgram } from './installed.ts';
import { makePlace, MANNERS, startIn } from './real.ts';
import type { Place } from './real.ts';
import { codexProvider } from './setups.ts';

const program = agentProgram('codex');

describe('codex', needs(program !== undefined, 'codex is not installed'), () => {
  let model: ModelServer;
  let place: Place;
  beforeAll(async () => {
    model = await openaiServer(MANNERS.quick);
    place = makePlace();
  });
  afterAll(async () => {
    await model.close();
    place.remove();
  });

  const agent = () =>
    codexAgent({
      command: [program as string],
      cancelMs: HANG_MS,
      toolsMs: HANG_MS,
      args: [
        ['-c', 'model_provider="scripted"'],
        ['-c', 'model="plain"'],
        ['-c', `model_providers.scripted=${codexProvider(model)}`],
      ].flat(),
    });
  const start = (): StartOptions => {
    const home = join(place.home, '.codex');
    mkdirSync(home, { recursive: true });
    return startIn(place, { CODEX_HOME: home, MODEL_KEY: 'a dummy' });
  };

  const rig: Rig = {
    name: 'codex',
    model: () => model,
    agent,
    absent: () => codexAgent({ command: ['no-such-program'] }),
    place: () => place,
    start,
    // Inside the sandbox it would not ask.
    shell: (cmd) => ({
      name: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'it is needed' },
    }),
    write: (path) => ({ name: 'exec_command', input: { cmd: `echo text > ${path}` } }),
    used: { inputTokens: 400, cacheReadTokens: 100, outputTokens: 20, costUsd: 0 },
    overload: { status: 429, message: 'used up', more: { type: 'usage_limit_reached', resets_in_seconds: 60 } },
  };
  describeDriven(rig);
});
