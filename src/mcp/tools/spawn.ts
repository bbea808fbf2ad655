import { z } from 'zod';
import { suggestSlug } from '../../core/fields.ts';
import type { TeamMember } from '../../core/member.ts';
import { tool } from '../tool.ts';

/** The agent type that models are trained to name if any will do. */
const ANY = 'general-purpose';

export const spawnTools = [
  tool({
    name: 'SpawnTeammate',
    description:
      'Start a teammate. It takes free tasks itself; prompt is its first message. TeamStatus names the agents.',
    for: 'lead',
    input: z.strictObject({
      name: z.string().min(1),
      agent: z.string().optional(),
      role: z.string().optional(),
      prompt: z.string().optional(),
      model: z.string().optional(),
      plan_mode_required: z.boolean().optional(),
    }),
    run: async ({ call, teamId }, { name, agent, role, prompt, model, plan_mode_required }) => {
      const member = await call<TeamMember>(
        'member.spawn',
        {
          teamId,
          name: suggestSlug(name),
          ...(agent !== undefined && { agentType: agent, ...(agent !== ANY && { agent }) }),
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
      const runs = agent ?? member.agent?.name ?? member.agent?.kind;
      return {
        text: `Teammate "${member.name}" (${runs}) is starting. Next: create tasks, then end your turn; you are told when there is news.`,
        data: { name: member.name, agent: runs, status: member.status },
      };
    },
  }),
];
