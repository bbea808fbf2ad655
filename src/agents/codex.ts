import { TeamError } from '../core/errors.ts';
import type { Agent, AgentEvent, AgentSession, StartOptions, Turn } from './agent.ts';
import { AGENTS } from './catalog.ts';
import { answerApproval } from './codex/approvals.ts';
import { connect } from './codex/connection.ts';
import type { Connection } from './codex/connection.ts';
import { Config, Started, TurnStarted } from './codex/protocol.ts';
import { MODES, threadSettings } from './codex/settings.ts';
import { Thread } from './codex/thread.ts';
import { startLiveProgram, within } from './live-program.ts';
import { turnByTurn } from './turns.ts';

/** Which Codex to run, and its extra arguments. */
export interface CodexOptions {
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  /** How long a cancelled turn may take to end before its process is killed. */
  readonly cancelMs?: number | undefined;
  /** How long the MCP server with the team's tools may take to start before the work begins without it. */
  readonly toolsMs?: number | undefined;
}

const CANCEL_MS = 5_000;
const TOOLS_MS = 10_000;
const AGAIN_MS = 100;

const { program, install, abilities } = AGENTS.codex;

/** OpenAI's Codex: one app-server per session, with one thread. Its configuration, login and history stay its own. */
export function codexAgent(options: CodexOptions = {}): Agent {
  const { command = [program], args = [], cancelMs = CANCEL_MS, toolsMs = TOOLS_MS } = options;
  return {
    kind: 'codex',
    abilities,
    async start(start) {
      const [file = program, ...rest] = command;
      const server = await startLiveProgram({ command: [file, ...rest, 'app-server', ...args], start, install });
      try {
        const thread = new Thread(start.tools?.name);
        const { denies } = MODES[start.mode];
        const { itemOf, emit, teamServer } = thread;
        const connection = connect(server, {
          news: (method, params) => thread.hear(method, params),
          question: (method, params) => answerApproval({ method, params, itemOf, teamServer, denies, emit }),
        });
        const { id, model } = await openThread(connection, start);
        Object.assign(thread, { id, model });
        // A turn that begins earlier has none of the tools: the model gets only the servers that have started.
        if (start.tools) await within(thread.toolsStarted, toolsMs);
        return converse(connection, thread, { ...server, cancelMs });
      } catch (error) {
        await server.close();
        throw new TeamError('invalid', `Codex did not start in ${start.cwd}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
  };
}

async function openThread(
  connection: Connection,
  start: StartOptions,
): Promise<{ id: string; model: string | undefined }> {
  await connection.request('initialize', {
    clientInfo: { name: 'troupe', title: 'Troupe', version: '0' },
    capabilities: { experimentalApi: true },
  });
  connection.notify('initialized');
  const settings = threadSettings(start, await serversOf(connection, start));
  const started = await resume(connection, start, settings).catch(() =>
    // The conversation is gone: the member starts a new one.
    connection.request('thread/start', settings),
  );
  const { thread, model } = Started.parse(started);
  return { id: thread.id, model };
}

async function resume(connection: Connection, { resume: threadId }: StartOptions, settings: object): Promise<unknown> {
  if (threadId === undefined) return connection.request('thread/start', settings);
  return connection.request('thread/resume', { threadId, excludeTurns: true, ...settings });
}

/** The MCP servers that the user set up for every session. */
async function serversOf(connection: Connection, { cwd }: StartOptions): Promise<string[]> {
  const { config } = Config.parse(await connection.request('config/read', { cwd, includeLayers: false }));
  return Object.keys(config.mcp_servers ?? {});
}

function converse(
  connection: Connection,
  thread: Thread,
  server: { gone: Promise<string>; close(): Promise<void>; cancelMs: number },
): AgentSession {
  const deliver = async (method: string, turn: Turn, more: object): Promise<unknown> => {
    const clientUserMessageId = crypto.randomUUID();
    thread.expect(
      clientUserMessageId,
      turn.messages.map(({ id }) => id),
    );
    const input = [{ type: 'text', text: turn.text, text_elements: [] }];
    try {
      return await connection.request(method, { threadId: thread.id, clientUserMessageId, input, ...more });
    } catch (error) {
      thread.forget(clientUserMessageId);
      throw error;
    }
  };
  /** Settles once it is known whether the turn runs. */
  let begun: Promise<unknown> = Promise.resolve();

  const run = async (turn: Turn, emit: (event: AgentEvent) => void, signal: AbortSignal) => {
    const ended = thread.begin(emit);
    begun = deliver('turn/start', turn, {}).then((answer) => {
      thread.turnId = TurnStarted.parse(answer).turn.id;
    });
    const onAbort = (): void => void interrupt(ended);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const lost = server.gone.then((reason) => Promise.reject(new TeamError('conflict', reason)));
    try {
      await begun;
      return await Promise.race([ended, lost]);
    } finally {
      lost.catch(() => {});
      signal.removeEventListener('abort', onAbort);
      thread.turnId = undefined;
    }
  };

  /** Ends the turn. A server that is stuck answers no request at all; then it is killed. */
  const interrupt = async (ended: Promise<unknown>): Promise<void> => {
    // A turn that is refused when it should start does not run either.
    const over = Promise.race([begun.then(() => ended), server.gone]);
    void askToEnd(over).catch(() => {});
    if (!(await within(over, server.cancelMs))) await server.close();
  };

  /** Repeats the interrupt: a turn that is only just starting may not be interruptible yet. */
  const askToEnd = async (over: Promise<unknown>): Promise<void> => {
    await begun;
    do {
      const params = { threadId: thread.id, turnId: thread.turnId };
      await connection.request('turn/interrupt', params).catch(() => {});
    } while (!(await within(over, AGAIN_MS)));
  };

  const steer = async (turn: Turn): Promise<boolean> => {
    try {
      await begun;
      if (thread.turnId === undefined) return false;
      await deliver('turn/steer', turn, { expectedTurnId: thread.turnId });
      return true;
    } catch {
      // The turn ended in the meantime, so the text becomes its own turn.
      return false;
    }
  };

  return turnByTurn(thread.id, run, { steer, holdsTools: true, close: () => server.close(), gone: server.gone });
}
