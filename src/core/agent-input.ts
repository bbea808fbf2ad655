import { z } from 'zod';
import { agentNamed } from './agent-kinds.ts';
import { AgentSpec } from './agent.ts';
import { argvOf } from './shell.ts';

/**
 * What runs a member, in any form that people write: the name of an agent, a program or an ACP agent as in a team file
 * (`{ exec: … }`, `{ acp: … }`), or a full spec.
 */
export const AgentInput = z.preprocess(readAgent, AgentSpec);

function readAgent(given: unknown): unknown {
  if (typeof given === 'string') return agentNamed(given);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { exec, acp, ...rest } = given as Readonly<Record<string, unknown>>;
  // As in a team file. Without the texts of its files it is refused, with words that say what to do.
  if (typeof rest['team'] === 'string') return { kind: 'team' };
  const kind = exec === undefined ? (acp === undefined ? undefined : 'acp') : 'exec';
  const command = exec ?? acp ?? rest['command'];
  return {
    ...rest,
    ...(kind && { kind }),
    ...(command !== undefined && { command: typeof command === 'string' ? argvOf(command) : command }),
  };
}
