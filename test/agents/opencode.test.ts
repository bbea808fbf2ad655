import { afterAll, beforeAll, describe } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { StartOptions } from '../../src/agents/agent.ts';
import { describeAgent } from '../contracts/agent.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { describeDriven } from './driven.ts';
import { agentProgram } from './installed.ts';
import { contractScript, doTurn, makePlace, open, startIn } from './real.ts';
import type { Place } from './real.ts';
import { opencodeEnvironment } from './setups.ts';

const program = agentProgram('opencode');

const WHY = 'each start takes it 4 s of processor time, and this is shown with Gemini CLI and the same driver';
const ONE_START_IS_ENOUGH = {
  'tells its processes': WHY,
  'gets the whole environment': WHY,
  'what its driver does by itself': WHY,
};

describe('opencode', needs(program !== undefined, 'opencode is not installed'), () => {
  let model: ModelServer;
  let shared: Place;
  beforeAll(async () => {
    model = await anthropicServer(contractScript);
    shared = makePlace();
  });
  afterAll(async () => {
    await model.close();
    shared.remove();
  });

  const agent = (name: string) => {
    const opencode = acpAgent({ name: 'opencode', command: [program as string] });
    const start: typeof opencode.start = (options) => opencode.start({ ...options, model: `scripted/${name}` });
    return { ...opencode, start };
  };
  const startAt = (place: Place): StartOptions => startIn(place, opencodeEnvironment(model));

  describeAgent(
    'opencode',
    () => ({
      quick: () => agent('quick'),
      slow: () => agent('slow'),
      failing: () => agent('failing'),
      absent: () => acpAgent({ name: 'opencode', command: ['no-such-program'] }),
      earlier: async () => {
        const session = await open(agent('quick').start(startAt(shared)));
        await doTurn(session, 'earlier');
        await session.close();
        return session.id;
      },
      start: startAt(shared),
    }),
    { except: ONE_START_IS_ENOUGH },
  );

  describeDriven({
    model: () => model,
    agent: () => agent('plain'),
    start: startAt,
    shell: (command) => ({ name: 'bash', input: { command, description: 'it is needed' } }),
    write: (filePath) => ({ name: 'write', input: { filePath, content: 'text' } }),
    used: { inputTokens: 500, cacheReadTokens: 100, outputTokens: 20, costUsd: (500 * 3 + 20 * 15) / 1e6 },
  });
});
