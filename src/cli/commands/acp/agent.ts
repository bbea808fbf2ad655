import { isAbsolute } from 'node:path';
import { agent, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type {
  AgentApp,
  AgentContext,
  ClientCapabilities,
  McpServer,
  SessionInfo,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { CallError } from '../../../client/client.ts';
import type { Client } from '../../../client/client.ts';
import { isSlug } from '../../../core/fields.ts';
import { readVersion } from '../../../runtime/version.ts';
import { invalid, toRequestError } from './errors.ts';
import { promptText } from './prompt.ts';
import { TeamSession } from './session.ts';
import type { SessionOptions } from './session.ts';
import { planTeam } from './start.ts';
import type { PlannedTeam, TeamWishes } from './start.ts';

/** What the agent works with. */
export interface TeamAgentOptions {
  readonly client: Client;
  readonly wishes: TeamWishes;
  /** Whether members go on when the client is gone. */
  readonly keep: boolean;
  readonly environment: NodeJS.ProcessEnv;
}

/** How many sessions are listed, the newest first. */
const LISTED = 50;

/** Troupe as an agent: each session is a team. */
export function teamAgent({ client, wishes, keep, environment }: TeamAgentOptions): AgentApp {
  const sessions = new Map<string, TeamSession>();
  let capabilities: ClientCapabilities = {};

  const open = (id: string, peer: AgentContext, servers: readonly McpServer[], planned?: PlannedTeam): TeamSession => {
    const sessionId = id;
    const options: SessionOptions = {
      client,
      environment,
      keep,
      remark: unusedServers(servers),
      tell: (update: SessionUpdate) => peer.notify('session/update', { sessionId, update }),
      askPermission: (request, signal) =>
        peer.request('session/request_permission', { sessionId, ...request }, cancelledBy(signal)),
      askText: capabilities.elicitation?.form
        ? (request, signal) =>
            peer.request('elicitation/create', { mode: 'form', sessionId, ...request }, cancelledBy(signal))
        : undefined,
    };
    const session = new TeamSession(id, options, planned);
    sessions.set(id, session);
    return session;
  };

  const reopen = async (
    params: { sessionId: string; cwd: string; mcpServers?: McpServer[] },
    peer: AgentContext,
    { history }: { history: boolean },
  ): Promise<void> => {
    const { sessionId, mcpServers = [] } = params;
    if (sessions.has(sessionId) && !history) return;
    if (!isSlug(sessionId)) throw RequestError.sessionNotFound(sessionId);
    const session = open(sessionId, peer, mcpServers);
    try {
      await session.load({ history });
    } catch (error) {
      sessions.delete(sessionId);
      if (error instanceof CallError && error.code === 'not_found') throw RequestError.sessionNotFound(sessionId);
      throw error;
    }
  };

  const find = (sessionId: string): TeamSession => {
    const session = sessions.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  };

  return agent({ name: 'troupe' })
    .onRequest('initialize', ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'troupe', title: 'Troupe', version: readVersion() },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: false, audio: false, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    })
    .onRequest('authenticate', () => {
      throw invalid('Troupe has no login of its own: log in to the agents of your team, such as claude or codex');
    })
    .onRequest('session/new', ({ params, client: peer, signal }) =>
      explained(async () => {
        if (!isAbsolute(params.cwd)) throw invalid(`cwd must be an absolute path, and ${params.cwd} is not`);
        const planned = await planTeam({ client, environment, signal }, params.cwd, wishes);
        open(planned.name, peer, params.mcpServers, planned);
        return { sessionId: planned.name };
      }),
    )
    .onRequest('session/load', ({ params, client: peer }) =>
      explained(async () => {
        await reopen(params, peer, { history: true });
        return {};
      }),
    )
    .onRequest('session/resume', ({ params, client: peer }) =>
      explained(async () => {
        await reopen(params, peer, { history: false });
        return {};
      }),
    )
    .onRequest('session/list', ({ params }) =>
      explained(async () => ({ sessions: await listSessions(client, params.cwd ?? undefined) })),
    )
    .onRequest('session/close', ({ params: { sessionId } }) =>
      explained(async () => {
        await find(sessionId).close();
        sessions.delete(sessionId);
        return {};
      }),
    )
    .onRequest('session/prompt', ({ params, signal }) =>
      explained(async () => ({
        stopReason: await find(params.sessionId).prompt(promptText(params.prompt), signal),
      })),
    )
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.cancel());
}

/** Errors of the daemon in words that an editor shows. */
async function explained<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw toRequestError(error);
  }
}

function cancelledBy(signal: AbortSignal) {
  return { cancellationSignal: signal, stopWaitingOnCancel: true };
}

/** Refusing the session would make Troupe useless in an editor that has MCP servers. */
function unusedServers(servers: readonly McpServer[]): string | undefined {
  if (servers.length === 0) return undefined;
  const names = servers.map(({ name }) => name).join(', ');
  return `The team does not use the MCP servers of this editor (${names}): each member has those of its own agent's settings.`;
}

/** Teams as sessions: those of a folder, or all of them. */
async function listSessions(client: Client, cwd: string | undefined): Promise<SessionInfo[]> {
  const teams = await client.call('team.list', {});
  const newest = teams
    .filter(({ problem }) => problem === undefined)
    .sort((a, b) => Date.parse(b.activeAt) - Date.parse(a.activeAt))
    .slice(0, LISTED);
  const shown = await Promise.all(newest.map(({ id: teamId }) => client.call('team.show', { teamId })));
  return shown.flatMap(({ id, description, metadata, work }, i) => {
    const folder = metadata?.['folder'] ?? work?.repository;
    if (typeof folder !== 'string' || (cwd !== undefined && folder !== cwd)) return [];
    const title = description?.split('\n', 1)[0] || id;
    return [{ sessionId: id, cwd: folder, title, updatedAt: newest[i]?.activeAt ?? null }];
  });
}
