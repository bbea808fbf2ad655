import { z } from 'zod';
import { Ahead } from './work-branch.ts';

/** Where the members of a file would work. */
const PlannedWork = z.object({
  workspaces: z.enum(['own', 'shared']),
  why: z.string().optional().describe('why they share a folder'),
  repository: z.string().optional(),
  base: z.string().optional().describe('the commit that they begin from'),
  branch: z.string().optional().describe('the branch on which their work lands'),
  uncommitted: z.array(z.string()).default([]).describe('files that differ from that commit; workspaces lack them'),
  ahead: Ahead.optional().describe('what the HEAD of the checkout has and the branch of a standing team lacks'),
  refused: z
    .string()
    .optional()
    .describe('why the team cannot begin without the uncommitted files; told if something is not approved'),
});

/** What a check of a team file finds. */
export const CheckedFile = z.object({
  team: z.string(),
  members: z.number().int(),
  tasks: z.number().int(),
  leads: z.boolean().default(false).describe('whether an agent leads'),
  standing: z
    .enum(['open', 'closed'])
    .optional()
    .describe('how a team of this name is: an open one goes on, a closed one can only be started over'),
  elsewhere: z
    .object({
      folder: z.string(),
      host: z.string().optional().describe('the machine of the folder, if several share the journal'),
      holds: z.boolean().describe('whether the team still belongs to that folder and cannot be started from this one'),
    })
    .optional()
    .describe('another folder that started a team with this name'),
  broken: z
    .array(z.object({ type: z.string(), command: z.string(), why: z.string().describe('and how to fix it') }))
    .describe('hooks, or the setup, whose program is missing or not executable'),
  unrunnable: z
    .array(z.string())
    .default([])
    .describe('agents that cannot be started, each with its place in the file and the reason'),
  unapproved: z
    .array(
      z.object({
        type: z.string().describe('the type of a hook, agent, setup, or notify'),
        members: z.array(z.string()).default([]).describe('the members and agents that it is for'),
        command: z.string().describe('the command, or the name of an agent'),
        env: z
          .array(z.string())
          .default([])
          .describe('NAME=value for the variables of an agent; names of your variables that a hook sees'),
        obeys: z
          .array(z.string())
          .default([])
          .describe('settings in the checkout by which the agent may run programs without asking'),
        servers: z.array(z.string()).default([]).describe('the servers of tools (MCP) that it gets'),
        sandbox: z.boolean().default(false).describe('whether it runs in a sandbox'),
        isFree: z.boolean().default(false).describe('whether it may do everything without asking (mode full)'),
        allow: z.array(z.string()).default([]).describe('what it may do without asking'),
        hash: z.string(),
        folder: z.string().describe('where it runs'),
        files: z.array(z.string()).describe('the files that decide what it does; an approval is for their content'),
        changed: z.boolean().describe('whether other content of it was approved before'),
        changedFiles: z.array(z.string()).default([]).describe('the files that changed since'),
      }),
    )
    .describe('what the file runs as you, or allows without a question, and that you have not approved'),
  work: PlannedWork.optional(),
  exposed: z
    .array(z.string())
    .default([])
    .describe('members that may do everything without asking (mode full), and have no sandbox'),
  kept: z.array(z.string()).default([]).describe('what a standing team keeps although the file says something else'),
  budgets: z.array(z.string()).default([]).describe('what the file changes about the budgets of a standing team'),
  variables: z
    .object({
      usual: z
        .array(z.string())
        .describe('what programs, agents and hooks need; LC_* matches every name with that prefix'),
      named: z.array(z.string()).describe('what the file gives to members, as ${NAME}'),
      isShared: z.boolean().describe('whether other machines, with their own variables, may run its members'),
    })
    .optional()
    .describe('names of the variables whose values team.up takes as its environment'),
});
