import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { codexAgent } from '../../src/agents/codex.ts';
import { describeAgent } from '../contracts/agent.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { describeDriven } from './driven.ts';
import { agentProgram } from './installed.ts';
import { contractScript, doTurn, makePlace, open, startIn } from './real.ts';
import type { Place } from './real.ts';
import { codexProvider } from './setups.ts';

const program = agentProgram('codex');

describe('codex', needs(program !== undefined, 'codex is not installed'), () => {
  let model: ModelServer;
  let shared: Place;
  beforeAll(async () => {
    model = await openaiServer(contractScript);
    shared = makePlace();
  });
  afterAll(async () => {
    await model.close();
    shared.remove();
  });

  const agent = (name: string) =>
    codexAgent({
      command: [program as string],
      args: [
        ['-c', 'model_provider="scripted"'],
        ['-c', `model="${name}"`],
        ['-c', `model_providers.scripted=${codexProvider(model)}`],
      ].flat(),
    });
  const startAt = (place: Place): StartOptions => {
    const home = join(place.home, '.codex');
    mkdirSync(home, { recursive: true });
    return startIn(place, { CODEX_HOME: home, MODEL_KEY: 'a dummy' });
  };

  describeAgent('codex', () => ({
    quick: () => agent('quick'),
    slow: () => agent('slow'),
    failing: () => agent('failing'),
    absent: () => codexAgent({ command: ['no-such-program'] }),
    earlier: async () => {
      const session = await open(agent('quick').start(startAt(shared)));
      await doTurn(session, 'earlier');
      await session.close();
      return session.id;
    },
    start: startAt(shared),
  }));

  describeDriven({
    model: () => model,
    agent: () => agent('plain'),
    start: startAt,
    // Inside the sandbox it need not ask.
    shell: (cmd) => ({
      name: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'it is needed' },
    }),
    write: (path) => ({ name: 'exec_command', input: { cmd: `echo text > ${path}` } }),
    used: { inputTokens: 400, cacheReadTokens: 100, outputTokens: 20, costUsd: 0 },
  });
});
