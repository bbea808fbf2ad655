import type { Hono } from 'hono';
import { TeamError } from '../core/errors.ts';
import { TASKS_PER_TEAM } from '../core/limits.ts';
import { NO_SESSION } from '../core/member.ts';
import { quote } from '../core/text.ts';
import { hasScope } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import { findNativeAgent, viewNativeTasks, viewNativeTeammates, viewTeammates } from '../operations/teammate-views.ts';
import type { NativeAgent } from '../operations/teammate-views.ts';
import { callerOf } from './context.ts';
import type { Env } from './context.ts';
import type { Hub } from './hub.ts';

/** What programs that know agents rather than teams ask for: an agent is `name@team` or a lead's session id. */
export function addAgentRoutes(app: Hono<Env>, hub: Hub): void {
  app.get('/api/agents/:id/teammates', async (context) => {
    const agent = await findAgent(hub, callerOf(context), context.req.param('id'));
    if ('team' in agent) return context.json(viewNativeTeammates(agent));
    const { teamId, memberId } = agent;
    return context.json(await hub.services.ledger.view(teamId, (state) => viewTeammates(state, memberId)));
  });
  app.get('/api/agents/:id/team-tasks', async (context) => {
    const caller = callerOf(context);
    const agent = await findAgent(hub, caller, context.req.param('id'));
    if ('team' in agent) return context.json(viewNativeTasks(agent));
    // All of them: whoever asks for a team's tasks here has no way to ask for the next page.
    const input = { teamId: agent.teamId, limit: TASKS_PER_TEAM };
    const signal = new AbortController().signal;
    return context.json((await hub.call('task.list', { caller, input, signal })) as object[]);
  });
}

/** A member of one of our teams. */
interface OwnAgent {
  readonly teamId: string;
  readonly memberId: string;
}

async function findAgent(hub: Hub, caller: Caller, id: string): Promise<OwnAgent | NativeAgent> {
  const [name = '', team] = id.split('@');
  const isMeant = (teamId: string): boolean =>
    (caller.teamId === undefined || caller.teamId === teamId) && (team === undefined || team === teamId);
  const found = await hub.services.ledger.viewAll<OwnAgent | TeamError | undefined>(
    ({ teamId, members, team: config }) => {
      if (team !== undefined) return members.get(name)?.agentId === id ? { teamId, memberId: name } : undefined;
      return config && id !== NO_SESSION && config.leadSessionId === id
        ? { teamId, memberId: config.leadId }
        : undefined;
    },
    { of: isMeant, unreadable: (_teamId, error) => error },
  );
  const agent = found.find((one) => one !== undefined && !(one instanceof TeamError));
  if (agent) return agent as OwnAgent;
  // Native teams are nobody's but the person's whose files they are, as in all that is told of them.
  const native = hasScope(caller, 'admin') ? findNativeAgent(hub.services.native.sight().list(), id) : undefined;
  if (native) return native;
  // It may be in a team that cannot be read.
  const trouble = found.find((one) => one instanceof TeamError);
  if (trouble) throw trouble;
  throw new TeamError('not_found', `There is no agent ${quote(id)}: say name@team, or a lead's session id`);
}
