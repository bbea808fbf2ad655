import type { Hono } from 'hono';
import { TeamError } from '../core/errors.ts';
import { TASKS_PER_TEAM } from '../core/limits.ts';
import { NO_SESSION } from '../core/member-marks.ts';
import { quote } from '../core/text.ts';
import { hasScope } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import type { Cursor } from '../operations/operation.ts';
import { findNativeAgent, viewNativeTasks, viewNativeTeammates, viewTeammates } from '../operations/teammate-views.ts';
import type { NativeAgent } from '../operations/teammate-views.ts';
import { admittedOf, callerOf } from './context.ts';
import type { Env } from './context.ts';
import type { Hub } from './hub.ts';
import { turnFor } from './rest.ts';

/** Routes for programs that know agents instead of teams. An agent's id is `name@team` or a lead's session id. */
export function addAgentRoutes(app: Hono<Env>, hub: Hub): void {
  app.get('/api/agents/:id/teammates', async (context) => {
    const agent = await findAgent(hub, callerOf(context), context.req.param('id'));
    if ('team' in agent) return context.json(viewNativeTeammates(agent));
    const { teamId, memberId } = agent;
    return context.json(await hub.services.ledger.view(teamId, (state) => viewTeammates(state, memberId)));
  });
  app.get('/api/agents/:id/team-tasks', async (context) => {
    const { caller, share, signal } = admittedOf(context);
    const agent = await findAgent(hub, caller, context.req.param('id'));
    if ('team' in agent) return context.json(viewNativeTasks(agent));
    await turnFor(hub, share, context.env.outgoing);
    const pages = taskPages(hub, { caller, signal, teamId: agent.teamId });
    // Only before the first page can the request still be refused.
    const { value } = await pages.next();
    return context.body(ReadableStream.from(asJson(value ?? [], pages)), 200, { 'content-type': 'application/json' });
  });
}

/**
 * All tasks of a team, a page at a time. The clients of this route cannot ask for the next page, so the answer has all
 * of them.
 */
async function* taskPages(
  hub: Hub,
  { caller, signal, teamId }: { caller: Caller; signal: AbortSignal; teamId: string },
): AsyncGenerator<unknown[], undefined> {
  let after: Cursor | undefined;
  do {
    const input = { teamId, limit: TASKS_PER_TEAM, after };
    after = undefined;
    const more = (next: Cursor): void => void (after = next);
    yield (await hub.call('task.list', { caller, input, signal, more })) as unknown[];
  } while (after !== undefined);
}

/** A list as JSON, a page at a time. */
async function* asJson(first: unknown[], others: AsyncIterable<unknown[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(JSON.stringify(first).slice(0, -1));
  for await (const page of others) {
    // The last page is empty if its tasks were deleted in the meantime.
    if (page.length > 0) yield encoder.encode(`,${JSON.stringify(page).slice(1, -1)}`);
  }
  yield encoder.encode(']');
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
  // Native teams belong to the person who owns the files, so only an admin sees them, here as elsewhere.
  const native = hasScope(caller, 'admin') ? findNativeAgent(hub.services.native.sight().list(), id) : undefined;
  if (native) return native;
  // The agent may be in a team that cannot be read.
  const trouble = found.find((one) => one instanceof TeamError);
  if (trouble) throw trouble;
  throw new TeamError('not_found', `There is no agent ${quote(id)}: use name@team, or a lead's session id`);
}
