import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type {
  ClientContext,
  ClientCapabilities,
  InitializeResponse,
  RequestPermissionRequest,
  SessionNotification,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { BIN, environmentFor } from '../daemon/serve.ts';
import { until } from '../until.ts';

/** An editor as a test plays it: the SDK's own client, and everything that it got. */
export interface Editor {
  readonly agent: ClientContext;
  readonly about: InitializeResponse;
  readonly process: ChildProcess;
  /** Everything that came, in order. */
  readonly got: SessionNotification[];
  readonly asked: RequestPermissionRequest[];
  /** Chooses an option of each permission; by default the first. */
  answer: (request: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;
  /** Answers forms. */
  answerForm: (message: string) => string;
  /** The updates of a session. */
  updates(sessionId: string): SessionUpdate[];
  /** The text that a session said. */
  text(sessionId: string, kind?: 'agent_message_chunk' | 'user_message_chunk'): string;
  newSession(cwd: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<string>;
  /** Closes the pipes, as an editor does that is closed. */
  leave(): Promise<void>;
}

/** Starts `troupe acp` as an editor does. */
export async function openEditor(
  home: Home,
  { args = [], capabilities = {} }: { args?: readonly string[]; capabilities?: ClientCapabilities } = {},
): Promise<Editor> {
  const child = spawn(process.execPath, [BIN, 'acp', ...args], {
    env: environmentFor(home),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const got: SessionNotification[] = [];
  const asked: RequestPermissionRequest[] = [];
  const connection = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => void got.push(params))
    .onRequest('session/request_permission', async ({ params }) => {
      asked.push(params);
      const optionId = await editor.answer(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .onRequest('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: { answer: editor.answerForm(params.message) },
    }))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  void connection.closed.catch(() => {});
  const { agent } = connection;
  const about = await agent.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });
  const updates = (sessionId: string): SessionUpdate[] =>
    got.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  const editor: Editor = {
    agent,
    about,
    process: child,
    got,
    asked,
    answer: ({ options }) => options[0]?.optionId,
    answerForm: () => '',
    updates,
    text: (sessionId, kind = 'agent_message_chunk') =>
      updates(sessionId)
        .flatMap((update) =>
          update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : [],
        )
        .join(''),
    newSession: async (cwd) => (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId,
    prompt: async (sessionId, text) =>
      (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
    async leave() {
      child.stdin.end();
      await until('troupe acp has ended', () => child.exitCode !== null);
    },
  };
  return editor;
}

/** All tool calls of a session, with their updates merged, in the order of their beginning. */
export function toolCalls(updates: readonly SessionUpdate[]) {
  const calls = new Map<string, { title?: string | null; status?: string | null; content: unknown[] }>();
  for (const update of updates) {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') continue;
    const { title, status, content, toolCallId } = update;
    const known = calls.get(toolCallId) ?? { content: [] };
    calls.set(toolCallId, {
      ...known,
      ...(title && { title }),
      ...(status && { status }),
      content: content && content.length > 0 ? content : known.content,
    });
  }
  return [...calls.values()];
}

/** The plan as it was told last. */
export function lastPlan(updates: readonly SessionUpdate[]): string[] {
  const plan = updates.findLast((update) => update.sessionUpdate === 'plan');
  return plan?.sessionUpdate === 'plan' ? plan.entries.map(({ content, status }) => `${status}: ${content}`) : [];
}
