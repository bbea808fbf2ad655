import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { codexAgent } from '../../src/agents/codex.ts';
import { turn } from '../contracts/agent.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { describeDriven } from './driven.ts';
import type { Rig } from './driven.ts';
import { agentProgram } from './installed.ts';
import { doTurn, makePlace, MANNERS, open, startIn } from './real.ts';
import type { Place } from './real.ts';
import { codexHome, codexProvider } from './setups.ts';

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

  const agent = (cancelMs = HANG_MS) =>
    codexAgent({
      command: [program as string],
      cancelMs,
      toolsMs: HANG_MS,
      args: [
        ['-c', 'model_provider="scripted"'],
        ['-c', 'model="plain"'],
        ['-c', `model_providers.scripted=${codexProvider(model)}`],
      ].flat(),
    });
  const start = (): StartOptions => {
    const { env } = startIn(place);
    return startIn(place, { ...codexHome({ HOME: place.home, PATH: env['PATH'] ?? '' }), MODEL_KEY: 'a dummy' });
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
    spends: true,
    extras: {
      start: { effort: 'high', ownTools: { deny: ['web_search'] } },
      asks: true,
      lacks: 'web_search',
      effort: (body) => (body as { reasoning?: { effort?: string } }).reasoning?.effort,
    },
    troubles: {
      limited: {
        error: { status: 429, message: 'used up', more: { type: 'usage_limit_reached', resets_in_seconds: 60 } },
      },
      overloaded: { error: { status: 429, message: 'slow down', retryAfter: 0 } },
      unauthorised: { error: { status: 401, message: 'Incorrect API key provided' } },
      context: {
        error: {
          status: 400,
          message: 'Your input exceeds the context window',
          more: { code: 'context_length_exceeded' },
        },
      },
      refused: { text: 'I will not do that', refuses: true },
    },
    more(shared) {
      test('reports the windows of its account, and until when it is limited', async () => {
        const session = await shared.use();
        const resetsAt = Math.ceil(Date.now() / 1_000) + 3_600;
        const windows = (used: number) => ({
          'x-codex-primary-used-percent': String(used),
          'x-codex-primary-window-minutes': '300',
          'x-codex-primary-reset-at': String(resetsAt),
        });
        model.use(() => ({ text: 'did a bit', headers: windows(85) }));
        expect(await doTurn(session, 'a bit')).toMatchObject({ reason: 'done' });
        const error = { status: 429, message: 'used up', more: { type: 'usage_limit_reached', resets_at: resetsAt } };
        model.use(() => ({ error, headers: windows(100) }));
        const end = await doTurn(session, 'more');
        expect(end).toMatchObject({ reason: 'failed', trouble: 'limited', resetsAt: resetsAt * 1_000 });
        const told = session.events.flatMap((event) => (event.type === 'limits' ? event.windows : []));
        expect(told[0]).toEqual({ name: 'primary', used: 0.85, resetsAt: resetsAt * 1_000 });
        expect(told.at(-1)?.used).toBe(1);
        model.use(MANNERS.quick);
      });
    },
  };
  describeDriven(rig);

  test('is killed if it does not react when its turn is cancelled', async () => {
    model.use(MANNERS.slow);
    const pids: number[] = [];
    const session = await open(agent(1).start({ ...start(), onProcess: (pid) => pids.push(pid) }));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    process.kill(-(pids[0] as number), 'SIGSTOP');
    await session.cancel();
    await session.over;
    expect(session.ends()).toMatchObject([{ reason: 'cancelled' }]);
    model.use(MANNERS.quick);
  });
});
