import type { Hono } from 'hono';
import { TeamError } from '../core/errors.ts';
import { TASKS_PER_TEAM } from '../core/limits.ts';
import { NO_SESSION } from '../core/member.ts';
import { quote } from '../core/text.ts';
import type { Caller } from '../operations/caller.ts';
import { callerOf } from './context.ts';
import type { Env } from './context.ts';
import type { Hub } from './hub.ts';

/** What programs that know agents rather than teams ask for: an agent is `name@team` or a lead's session id. */
export function addAgentRoutes(app: Hono<Env>, hub: Hub): void {
  app.get('/api/agents/:id/teammates', async (context) => {
    const caller = callerOf(context);
    const { teamId, memberId } = await findAgent(hub, caller, context.req.param('id'));
    const members = (await read(hub, caller, 'member.list', teamId)) as { id: string }[];
    return context.json(members.filter((member) => member.id !== memberId));
  });
  app.get('/api/agents/:id/team-tasks', async (context) => {
    const caller = callerOf(context);
    const { teamId } = await findAgent(hub, caller, context.req.param('id'));
    // All of them: whoever asks for a team's tasks here has no way to ask for the next page.
    return context.json((await read(hub, caller, 'task.list', teamId, { limit: TASKS_PER_TEAM })) as object[]);
  });
}

function read(hub: Hub, caller: Caller, name: string, teamId: string, more: object = {}): Promise<unknown> {
  return hub.call(name, { caller, input: { teamId, ...more }, signal: new AbortController().signal });
}

async function findAgent(hub: Hub, caller: Caller, id: string): Promise<{ teamId: string; memberId: string }> {
  const [name = '', team] = id.split('@');
  const isMeant = (teamId: string): boolean =>
    (caller.teamId === undefined || caller.teamId === teamId) && (team === undefined || team === teamId);
  const found = await hub.services.ledger.viewAll<{ teamId: string; memberId: string } | TeamError | undefined>(
    ({ teamId, members, team: config }) => {
      if (team !== undefined) return members.get(name)?.agentId === id ? { teamId, memberId: name } : undefined;
      return config && id !== NO_SESSION && config.leadSessionId === id
        ? { teamId, memberId: config.leadId }
        : undefined;
    },
    { of: isMeant, unreadable: (_teamId, error) => error },
  );
  const agent = found.find((one) => one !== undefined && !(one instanceof TeamError));
  if (agent) return agent as { teamId: string; memberId: string };
  // It may be in a team that cannot be read.
  const trouble = found.find((one) => one instanceof TeamError);
  if (trouble) throw trouble;
  throw new TeamError('not_found', `There is no agent ${quote(id)}: say name@team, or a lead's session id`);
}
