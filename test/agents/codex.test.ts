import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { codexAgent } from '../../src/agents/codex.ts';
import { describeAgent } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelServer } from '../models/script.ts';
import { agentProgram } from './installed.ts';
import { contractScript, doTurn, makePlace, open, START_MS, startIn, testPlace } from './real.ts';
import type { Place } from './real.ts';

const program = agentProgram('codex');

describe.skipIf(program === undefined)('codex', { timeout: START_MS }, () => {
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
        ['-c', `model_providers.scripted=${providerAt(model)}`],
      ].flat(),
    });
  const startAt = (place: Place, more: Partial<StartOptions> = {}): StartOptions => {
    const home = join(place.home, '.codex');
    mkdirSync(home, { recursive: true });
    return { ...startIn(place, { CODEX_HOME: home, MODEL_KEY: 'a dummy' }), ...more };
  };
  const openIn = (place: Place, more: Partial<StartOptions> = {}): Promise<Heard> =>
    open(agent('plain').start(startAt(place, more)));

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

  test('several turns in one process know each other', async () => {
    const pids: number[] = [];
    const session = await openIn(testPlace(), { onProcess: (pid) => pids.push(pid) });
    for (const text of ['one', 'two', 'three']) {
      expect(await doTurn(session, text)).toMatchObject({ text: `did ${text}` });
    }
    expect(pids).toHaveLength(1);
    const last = model.requests.at(-1);
    expect(last?.turns.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(last?.system).toContain('You are worker on the team demo.');
  });
});

/** As in Codex's configuration file. It would try WebSockets first, which the scripted model does not speak. */
function providerAt({ url }: ModelServer): string {
  return `{name="scripted",base_url="${url}/v1",env_key="MODEL_KEY",wire_api="responses",supports_websockets=false}`;
}
