import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { StartOptions } from '../../src/agents/agent.ts';
import { OPENCODE_LOGIN } from '../../src/agents/logins.ts';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { openSandbox } from '../../src/agents/sandbox/open.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelServer } from '../models/script.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { describeDriven } from './driven.ts';
import type { Rig } from './driven.ts';
import { agentProgram } from './installed.ts';
import { doTurn, makePlace, MANNERS, open, startIn } from './real.ts';
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
    const opencode = acpAgent({ name: 'opencode', command: [program as string], cancelMs: HANG_MS, lookMs: 200 });
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
    more(shared) {
      test('says that it waits for its model, and ends a turn whose wait is as long as a limit', async () => {
        const session = await shared.use();
        model.use(() => ({ error: { status: 429, message: 'used up for today', retryAfter: 3_600 } }));
        const end = await doTurn(session, 'too much');
        const waits = session.events.flatMap((event) => (event.type === 'waiting' ? [event] : []));
        expect(waits).toMatchObject([{ reason: expect.stringContaining('used up for today') as string }]);
        expect(end).toMatchObject({ reason: 'failed', trouble: 'limited', resetsAt: waits[0]?.until });
        expect(end.resetsAt).toBeGreaterThan(Date.now() + 2_000_000);
        model.use(MANNERS.quick);
        expect(await doTurn(session, 'one more')).toMatchObject({ reason: 'done', text: 'did one more' });
      });

      test('lets nobody else use the server that it has besides', async () => {
        const session = await shared.use();
        const args = readFileSync(`/proc/${session.pids[0]}/cmdline`, 'utf8').split('\0');
        const answer = await fetch(`http://127.0.0.1:${args[args.indexOf('--port') + 1]}/session/status`);
        expect(answer.status).toBe(401);
      });
    },
  };
  describeDriven(rig);

  test('says so in a sandbox, too', async (context) => {
    const able = findSandbox(process.env);
    if (able.program === undefined) context.skip(`no sandbox here: ${able.why}`);
    const state = temporaryFolder();
    const { env, ...rest } = start();
    const network = [new URL(model.url).host];
    const sandbox = await openSandbox({ settings: { network }, state, env, login: OPENCODE_LOGIN });
    onTestFinished(() => sandbox.close());
    const session = await open(agent().start({ ...rest, env, sandbox }));
    model.use(() => ({ error: { status: 429, message: 'used up for today', retryAfter: 3_600 } }));
    expect(await doTurn(session, 'too much')).toMatchObject({ reason: 'failed', trouble: 'limited' });
    await session.close();
  });
});
