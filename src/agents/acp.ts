import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk/unstable';
import type { ClientContext, InitializeResponse, McpServer } from '@agentclientprotocol/sdk/unstable';
import type { McpServer as OwnServer } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { ACP_AGENTS, UNKNOWN_ACP } from './acp/agents.ts';
import type { AcpAgent } from './acp/agents.ts';
import { environmentFor } from './acp/environment.ts';
import { waitForHistory } from './acp/fresh-history.ts';
import type { Aside } from './acp/opencode-server.ts';
import { AcpSession } from './acp/session.ts';
import { troubleIn } from './acp/troubles.ts';
import type { Agent, AgentEvent, AgentSession, StartOptions, TeamTools, Turn, TurnEnd } from './agent.ts';
import { explainUnknown } from './catalog.ts';
import { ownServers } from './extras.ts';
import { startLiveProgram, within } from './live-program.ts';
import type { LiveProgram } from './live-program.ts';
import { turnByTurn } from './turns.ts';

/** Which agent: a known one by its name, or any command. */
export interface AcpOptions {
  readonly name?: string | undefined;
  /** With a name, the binary to use; without one, the whole command. */
  readonly command?: readonly string[] | undefined;
  /** Added at the end. */
  readonly args?: readonly string[] | undefined;
  /** How long a cancelled turn may take to end before its process is killed. */
  readonly cancelMs?: number | undefined;
  /** How often to look whether it waits for its model while nothing is heard. */
  readonly lookMs?: number | undefined;
}

const CANCEL_MS = 5_000;

/** How long an agent may take to end after its pipes closed. */
const END_MS = 5_000;

/**
 * An agent that speaks the Agent Client Protocol: one process per session, since not every agent separates sessions.
 */
export function acpAgent(options: AcpOptions): Agent {
  const agent = findRow(options);
  return {
    kind: 'acp',
    abilities: agent.abilities,
    async start(start) {
      if (agent.losesFreshHistory && start.resume) await waitForHistory(start.resume, start.env);
      // A user who chooses its port has a use of their own for it.
      const aside = options.args?.includes('--port') ? undefined : await agent.aside?.(start);
      const program = await startLiveProgram({
        command: commandOf(agent, options, start, aside?.args),
        start: { ...start, env: { ...environmentFor(agent, start), ...aside?.env }, sandbox: serving(start, aside) },
        install: agent.install,
        leaveMs: agent.leaveMs,
      });
      try {
        return await Promise.race([openSession(agent, start, program, { ...options, ...aside }), lostBefore(program)]);
      } catch (error) {
        await program.close();
        const isLogin = error instanceof RequestError && troubleIn(error)?.trouble === 'unauthorised';
        throw new TeamError('invalid', `${agent.title} did not start in ${start.cwd}: ${describeError(error)}`, {
          cause: error,
          ...(isLogin && { facts: { needs: 'login' } }),
        });
      }
    },
  };
}

function findRow({ name, command }: AcpOptions): AcpAgent {
  if (name !== undefined && Object.hasOwn(ACP_AGENTS, name)) return ACP_AGENTS[name as keyof typeof ACP_AGENTS];
  if (command !== undefined) return { ...UNKNOWN_ACP, title: name ?? command[0] ?? UNKNOWN_ACP.title };
  throw new TeamError('invalid', explainUnknown(name ?? 'acp') ?? `The agent ${name} does not speak ACP`);
}

/** The sandbox of a program that is also asked on a port. */
function serving({ sandbox }: StartOptions, aside: Aside | undefined): StartOptions['sandbox'] {
  return sandbox && aside ? { wrap: (one) => sandbox.wrap({ ...one, serves: aside.port }) } : sandbox;
}

function commandOf(
  agent: AcpAgent,
  options: AcpOptions,
  { model }: StartOptions,
  aside: readonly string[] = [],
): [string, ...string[]] {
  const [program = agent.program, ...rest] = options.command ?? [];
  const chosen = model === undefined ? [] : (agent.modelArgs?.(model) ?? []);
  return [program, ...rest, ...agent.args, ...aside, ...chosen, ...(options.args ?? [])];
}

async function lostBefore({ gone }: LiveProgram): Promise<never> {
  throw new TeamError('invalid', await gone);
}

async function openSession(
  agent: AcpAgent,
  start: StartOptions,
  program: LiveProgram,
  options: AcpOptions & Partial<Pick<Aside, 'findWait'>>,
): Promise<AgentSession> {
  const ours: { session?: AcpSession } = {};
  const stream = ndJsonStream(
    Writable.toWeb(program.stdin),
    Readable.toWeb(program.stdout) as ReadableStream<Uint8Array>,
  );
  const connection = client({ name: 'troupe' })
    .onNotification('session/update', ({ params }) => {
      // Updates before the session is ours are its history.
      if (params.sessionId === ours.session?.id) ours.session.hear(params.update);
    })
    .onRequest('session/request_permission', ({ params }) => {
      if (params.sessionId === ours.session?.id) return ours.session.answer(params);
      return { outcome: { outcome: 'cancelled' } };
    })
    .connect(stream);
  void connection.closed.catch(() => {});
  const peer = connection.agent;
  const about = await peer.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'troupe', title: 'Troupe', version: '0' },
    // The agent uses its own files and terminals: it works in the same folder as we do.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  const opened = await resume(peer, agent, start, about);
  await setMode(peer, agent, start, opened);
  const preface = agent.role === 'first prompt' && opened.isNew && start.role !== '' ? start.role : undefined;
  ours.session = new AcpSession(opened.id, peer, {
    agent,
    mode: start.mode,
    tools: start.tools?.name,
    preface,
    isNew: opened.isNew,
    findWait: options.findWait,
    lookMs: options.lookMs,
  });
  return converse(ours.session, program, { ...options, agent });
}

interface Opened {
  readonly id: string;
  readonly isNew: boolean;
  readonly modes: readonly string[] | undefined;
}

/** Resumes a session if the agent can; starts a new one if the old one is gone. */
async function resume(
  peer: ClientContext,
  agent: AcpAgent,
  start: StartOptions,
  { agentCapabilities }: InitializeResponse,
): Promise<Opened> {
  const own = ownServers(start).map(([name, server]) => ownServerOf(name, server, agentCapabilities));
  const team = start.tools ? [serverOf(start.tools, agentCapabilities)] : [];
  const asked = { cwd: start.cwd, mcpServers: [...team, ...own] };
  const method = agentCapabilities?.sessionCapabilities?.resume
    ? ('session/resume' as const)
    : agentCapabilities?.loadSession && ('session/load' as const);
  if (start.resume !== undefined && method) {
    const sessionId = start.resume;
    try {
      const { modes } = (await peer.request(method, { ...asked, sessionId })) ?? {};
      return { id: sessionId, isNew: false, modes: modes?.availableModes.map(({ id }) => id) };
    } catch {
      // The history is gone, but the member goes on.
    }
  }
  const { sessionId, modes } = await peer.request('session/new', {
    ...asked,
    ...(agent.role === 'system text' && {
      systemPrompt: { mode: 'append', content: [{ type: 'text', text: start.role }] },
    }),
    ...(agent.meta && { _meta: agent.meta(start.tools?.name) }),
  });
  return { id: sessionId, isNew: true, modes: modes?.availableModes.map(({ id }) => id) };
}

function pairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function ownServerOf(
  name: string,
  server: OwnServer,
  capabilities: InitializeResponse['agentCapabilities'],
): McpServer {
  if (!('url' in server)) {
    const [command = '', ...args] = server.command;
    return { name, command, args, env: pairs(server.env ?? {}) };
  }
  if (!capabilities?.mcpCapabilities?.http) {
    throw new TeamError('invalid', `it takes no servers of tools over HTTP, such as ${name}`);
  }
  return { type: 'http', name, url: server.url, headers: pairs(server.headers ?? {}) };
}

function serverOf({ name, http, stdio }: TeamTools, capabilities: InitializeResponse['agentCapabilities']): McpServer {
  if (http && capabilities?.mcpCapabilities?.http) {
    return { type: 'http', name, url: http.url, headers: pairs(http.headers) };
  }
  return { name, command: stdio.command, args: [...stdio.args], env: pairs(stdio.env) };
}

/**
 * A mode that forbids something must be accepted. Without a mode that allows something, the agent only asks more often.
 */
async function setMode(peer: ClientContext, agent: AcpAgent, { mode }: StartOptions, opened: Opened): Promise<void> {
  const modeId = agent.modes[mode];
  if (modeId === undefined) return;
  try {
    await peer.request('session/set_mode', { sessionId: opened.id, modeId });
  } catch (error) {
    if (mode === 'edit' || mode === 'full') return;
    const offered = opened.modes?.join(', ') ?? 'none';
    throw new TeamError('unsupported', `it does not support ${mode} mode; it offers ${offered}`, { cause: error });
  }
}

function converse(
  session: AcpSession,
  program: LiveProgram,
  { agent, cancelMs = CANCEL_MS }: AcpOptions & { agent: AcpAgent },
): AgentSession {
  const run = async (turn: Turn, emit: (event: AgentEvent) => void, signal: AbortSignal): Promise<TurnEnd> => {
    const ended = session.run(turn, emit, signal);
    const onAbort = (): void => void cancel(ended);
    signal.addEventListener('abort', onAbort, { once: true });
    const lost = program.gone.then((reason) => Promise.reject(new TeamError('conflict', reason)));
    lost.catch(() => {});
    try {
      return await Promise.race([ended, lost]);
    } catch (error) {
      // The pipe closes before the process is seen to end; how it ended says more.
      const isAnswer = error instanceof RequestError;
      if (!isAnswer && (await within(program.gone, END_MS))) throw new TeamError('conflict', await program.gone);
      if (!isAnswer || signal.aborted) throw new TeamError('conflict', describeError(error), { cause: error });
      const explained = agent.troubleIn?.(error) ?? troubleIn(error);
      return { type: 'turnEnd', reason: 'failed', text: '', error: describeError(error), ...explained };
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };
  const cancel = async (ended: Promise<unknown>): Promise<void> => {
    session.cancel();
    if (!(await within(ended, cancelMs))) await program.close();
  };
  return turnByTurn(session.id, run, {
    steer: (turn) => session.steer(turn).catch(() => false),
    holdsTools: true,
    close: () => program.close(),
    gone: program.gone,
  });
}

/** The error in the agent's words. The message of a refusal says little if its data says what happened. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const data = 'data' in error ? error.data : undefined;
  const details = typeof data === 'string' ? data : textIn(data);
  return details === undefined || error.message.includes(details) ? error.message : `${error.message}: ${details}`;
}

function textIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const key of ['details', 'message', 'error', 'reason']) {
    const value: unknown = Reflect.get(data, key);
    if (typeof value === 'string') return value;
  }
  const text = JSON.stringify(data);
  return text === '{}' ? undefined : text;
}
