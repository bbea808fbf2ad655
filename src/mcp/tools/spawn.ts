import { z } from 'zod';
import { TeamError } from '../../core/errors.ts';
import type { TeamMember } from '../../core/member.ts';
import { suggestSlug } from '../../core/text.ts';
import { tool } from '../tool.ts';

export const spawnTools = [
  tool({
    name: 'SpawnTeammate',
    description:
      'Start a teammate. It takes free tasks by itself; prompt, if given, is its first message. TeamStatus says which agents there are.',
    for: 'lead',
    input: z.strictObject({
      name: z.string().min(1),
      agent: z.string().optional(),
      role: z.string().optional(),
      prompt: z.string().optional(),
      model: z.string().optional(),
      plan_mode_required: z.boolean().optional(),
    }),
    run: async ({ call, teamId, services }, { name, agent, role, prompt, model, plan_mode_required }) => {
      const agentType =
        agent ?? (await onlyAgent(services.ledger.view(teamId, ({ team }) => Object.keys(team?.agents ?? {}))));
      const member = await call<TeamMember>(
        'member.spawn',
        {
          teamId,
          name: suggestSlug(name),
          agentType,
          ...(role !== undefined && { role }),
          ...(model !== undefined && { model }),
          ...(plan_mode_required !== undefined && { planApprovalRequired: plan_mode_required }),
        },
        { once: 'spawn' },
      );
      if (prompt) {
        const mail = { teamId, toId: member.id, content: prompt, summary: 'your first task' };
        await call('message.send', mail, { once: 'prompt' });
      }
      return {
        text: `Teammate "${member.name}" (${agentType}) is being started. Next: create tasks, then end your turn; you are told when there is news.`,
        data: { name: member.name, agent: agentType, status: member.status },
      };
    },
  }),
];

/** Where there is only one to choose from it need not be named. */
async function onlyAgent(names: Promise<string[]>): Promise<string> {
  const [first, ...others] = await names;
  if (first !== undefined && others.length === 0) return first;
  throw new TeamError(
    'invalid',
    first === undefined ? 'agent: say which agent it is' : `agent: choose one of ${[first, ...others].join(', ')}`,
  );
}
