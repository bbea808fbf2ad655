import type { Hono } from 'hono';
import { TeamError } from '../core/errors.ts';
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
    return context.json((await read(hub, caller, 'task.list', teamId)) as object[]);
  });
}

function read(hub: Hub, caller: Caller, name: string, teamId: string): Promise<unknown> {
  return hub.call(name, { caller, input: { teamId }, signal: new AbortController().signal });
}

async function findAgent(hub: Hub, caller: Caller, id: string): Promise<{ teamId: string; memberId: string }> {
  const { ledger } = hub.services;
  const [name = '', team] = id.split('@');
  const teams = (await ledger.teams()).filter((teamId) => caller.teamId === undefined || caller.teamId === teamId);
  for (const teamId of team === undefined ? teams : teams.filter((teamId) => teamId === team)) {
    const memberId = await ledger.view(teamId, (state) => {
      if (team !== undefined) return state.members.get(name)?.agentId === id ? name : undefined;
      return id !== 'none' && state.team?.leadSessionId === id ? state.team.leadId : undefined;
    });
    if (memberId !== undefined) return { teamId, memberId };
  }
  throw new TeamError('not_found', `There is no agent ${quote(id)}: say name@team, or a lead's session id`);
}
