import { z } from 'zod';
import { AgentKind } from '../core/agent.ts';
import { listAgents } from '../runtime/installed-agents.ts';
import { operation } from './operation.ts';

const Hold = z.enum(['enforced', 'refused', 'asked']);

/** What is known about an agent before it is started. */
const ListedAgent = z.object({
  name: z.string(),
  title: z.string(),
  kind: AgentKind,
  program: z.string(),
  install: z.string(),
  path: z.string().optional().describe('the path of its program, if it is installed here'),
  version: z.string().optional(),
  loginState: z
    .enum(['found', 'none', 'unknown'])
    .optional()
    .describe('of an installed agent that needs a login. found: a file or a variable shows one; neither is read'),
  loginCommand: z.string().optional().describe('the command with which a person logs in'),
  abilities: z.object({
    steer: z.boolean().describe('a message can reach a running turn'),
    interrupt: z.boolean(),
    resume: z.boolean(),
    mail: z.boolean(),
    usage: z.boolean(),
    permissions: z.boolean(),
  }),
  cost: z.enum(['reported', 'tokens', 'none']),
  holds: z.object({ plan: Hold, delegate: Hold }).describe('how a mode that forbids changes is enforced'),
  known: z.enum(['measured', 'documented']),
});

export const agentOperations = [
  operation({
    name: 'agent.list',
    summary: 'List the agents that Troupe can run, which are installed, and what each can do',
    scope: 'admin',
    input: z.strictObject({
      quick: z.boolean().default(false).describe('do not start the programs to ask for their versions'),
    }),
    result: z.array(ListedAgent),
    route: 'GET /api/agents',
    cli: { command: 'agents', examples: ['troupe agents', 'troupe agents --json'] },
    run: (_services, { quick }) => listAgents(process.env, { quick }),
  }),
] as const;
