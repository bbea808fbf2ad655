import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { StartOptions } from '../../src/agents/agent.ts';
import { geminiServer } from '../models/gemini.ts';
import type { ModelServer } from '../models/script.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { describeDriven } from './driven.ts';
import type { Rig } from './driven.ts';
import { agentProgram } from './installed.ts';
import { makePlace, MANNERS, startIn } from './real.ts';
import type { Place } from './real.ts';
import { geminiEnvironment } from './setups.ts';

const program = agentProgram('gemini');

describe('gemini', needs(program !== undefined, 'gemini is not installed'), () => {
  let model: ModelServer;
  let place: Place;
  beforeAll(async () => {
    model = await geminiServer(MANNERS.quick);
    place = makePlace();
  });
  afterAll(async () => {
    await model.close();
    place.remove();
  });

  const agent = () =>
    acpAgent({ name: 'gemini', command: [program as string], args: ['--model', 'gemini-plain'], cancelMs: HANG_MS });
  const start = (): StartOptions => startIn(place, geminiEnvironment(model));

  const rig: Rig = {
    name: 'gemini',
    model: () => model,
    agent,
    absent: () => acpAgent({ name: 'gemini', command: ['no-such-program'] }),
    place: () => place,
    start,
    shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'it is needed' } }),
    write: (file_path) => ({ name: 'write_file', input: { file_path, content: 'text' } }),
    // It does not report cached tokens apart.
    extras: { start: {}, asks: true },
    used: { inputTokens: 500, outputTokens: 20, costUsd: 0 },
    onlyReadsInPlan: true,
    troubles: {
      limited: {
        error: {
          status: 429,
          message: 'the day is used up',
          more: {
            details: [
              {
                '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
                violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
              },
            ],
          },
        },
      },
      unauthorised: { error: { status: 400, message: 'API key not valid. Please pass a valid API key.' } },
      context: {
        error: {
          status: 400,
          message: 'The input token count exceeds the maximum number of tokens allowed (1048576).',
        },
      },
      refused: { text: 'I will not do that', refuses: true },
    },
    age: () => age(place),
  };
  describeDriven(rig);
});

const OLD = 'session-2026-01-01T00-';
let minute = 10;

/**
 * Renames its session files to old minutes, each to a different one. A file is named by the minute of its start, and
 * Troupe waits for the end of that minute before it loads the session.
 */
function age({ home }: Place): void {
  const folder = join(home, '.gemini/tmp');
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.jsonl') || file.includes(OLD)) continue;
    renameSync(join(folder, file), join(folder, file.replace(/session-[\dT-]{16}/, `${OLD}${minute++}`)));
  }
}
