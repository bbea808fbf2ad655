import { NO_USAGE } from '../../core/usage.ts';
import type { AgentEvent, LimitWindow, TurnEnd } from '../agent.ts';
import { lifeSigns } from '../alive.ts';
import { keepOutput, textFlow } from '../text.ts';
import { troubleIn, windowsOf } from './limits.ts';
import { News } from './protocol.ts';
import type { Item, NewsOf, Tokens } from './protocol.ts';

/** An item that starts subagents, waits for them, or ends them. */
const SUBAGENT = 'collabAgentToolCall';

/** Follows one thread and reports what happens in its turns. */
export class Thread {
  /** Known once the app-server has opened it. */
  id = '';
  /** The model of its turns, if reported. */
  model: string | undefined;
  readonly teamServer: string | undefined;
  #emit: (event: AgentEvent) => void = () => {};
  #ended: PromiseWithResolvers<TurnEnd> | undefined;
  #turnId: string | undefined;
  #text = '';
  #flow = textFlow((said) => this.#emit(said));
  readonly #alive = lifeSigns((event) => this.#emit(event));
  /** Sent texts, by the id under which the thread will report them. */
  readonly #unshown = new Map<string, readonly string[]>();
  readonly #items = new Map<string, Item>();
  /** The last reported total of each thread: its subagents have their own threads and totals. */
  readonly #totals = new Map<string, Tokens>();
  readonly #toolsStarted = Promise.withResolvers<void>();
  /** The windows of the account as last reported, by name: a report without one says nothing about it. */
  readonly #windows = new Map<string, LimitWindow>();
  #used = NO_USAGE;
  #context: { used: number; size: number } | undefined;

  constructor(teamServer: string | undefined) {
    this.teamServer = teamServer;
  }

  /** Resolves when the MCP server with the team's tools has started, or has failed to. */
  get toolsStarted(): Promise<void> {
    return this.#toolsStarted.promise;
  }

  /** The last report about an item. */
  readonly itemOf = (id: string): Item | undefined => this.#items.get(id);

  readonly emit = (event: AgentEvent): void => this.#emit(event);

  /** Starts a turn; resolves with its end. */
  begin(emit: (event: AgentEvent) => void): Promise<TurnEnd> {
    this.#emit = emit;
    this.#text = '';
    this.#used = NO_USAGE;
    this.#turnId = undefined;
    this.#items.clear();
    this.#unshown.clear();
    this.#ended = Promise.withResolvers();
    return this.#ended.promise;
  }

  /** The running turn. */
  get turnId(): string | undefined {
    return this.#turnId;
  }

  set turnId(id: string | undefined) {
    this.#turnId = id;
  }

  /** A text with these messages is on its way. */
  expect(clientId: string, messageIds: readonly string[]): void {
    this.#unshown.set(clientId, messageIds);
  }

  /** The text did not arrive. */
  forget(clientId: string): void {
    this.#unshown.delete(clientId);
  }

  /** Handles news; ignores unknown kinds and forms. */
  hear(method: string, params: unknown): void {
    const schema = News[method as keyof typeof News];
    const news = schema?.safeParse(params);
    if (!news?.success) return;
    const told = news.data as NewsOf<'item/started'>;
    if (method === 'mcpServer/startupStatus/updated') return this.#hearServer(news.data as never);
    if (method === 'thread/tokenUsage/updated') return this.#hearUsage(news.data as never);
    if (method === 'account/rateLimits/updated') return this.#hearLimits(news.data as never);
    // Its subagents are threads too and share the connection.
    if (told.threadId !== this.id) return this.#hearSubagent();
    if (method === 'item/started' || method === 'item/completed') this.#hearItem(told.item, method);
    else if (method === 'item/agentMessage/delta') this.#flow.add((news.data as never as { delta: string }).delta);
    else if (method === 'turn/completed') this.#hearEnd(news.data as never);
    else if (method === 'error') this.#hearTrouble(news.data as never);
    else this.#alive();
  }

  /** Which tool started it is not said. */
  #hearSubagent(): void {
    const waiting = [...this.#items.values()].filter(
      ({ type, status }) => type === SUBAGENT && status === 'inProgress',
    );
    if (waiting.length === 0) this.#alive();
    for (const { id } of waiting) this.#alive(id);
  }

  #hearItem(item: Item, method: string): void {
    const isDone = method === 'item/completed';
    if (item.type === 'userMessage') return this.#show(item.clientId ?? '');
    if (item.type === 'agentMessage') {
      if (!isDone) return;
      this.#flow.flush();
      this.#text = item.text ?? '';
      return;
    }
    this.#items.set(item.id, item);
    const tool = toolOf(item);
    if (!tool) return this.#alive();
    this.#flow.flush();
    const failed = item.status === 'failed' || item.status === 'declined';
    const status = isDone ? (failed ? 'failed' : 'done') : 'running';
    this.#emit({ type: 'tool', id: item.id, status, ...tool, ...(isDone && outputOf(item)) });
  }

  /** The thread has the text, so the model gets it from now on. */
  #show(clientId: string): void {
    const messageIds = this.#unshown.get(clientId);
    if (messageIds === undefined) return;
    this.#unshown.delete(clientId);
    if (messageIds.length > 0) this.#emit({ type: 'shown', messageIds });
  }

  #hearUsage({ threadId, tokenUsage }: NewsOf<'thread/tokenUsage/updated'>): void {
    const { total, last, modelContextWindow } = tokenUsage;
    const before = this.#totals.get(threadId);
    this.#totals.set(threadId, total);
    // A resumed thread reports the total of its whole life: of the first report only the last call is ours.
    const call = before ? difference(total, before) : last;
    const cached = call.cachedInputTokens + call.cacheWriteInputTokens;
    this.#used = {
      ...this.#used,
      inputTokens: this.#used.inputTokens + Math.max(0, call.inputTokens - cached),
      outputTokens: this.#used.outputTokens + call.outputTokens,
      cacheReadTokens: this.#used.cacheReadTokens + call.cachedInputTokens,
      cacheWriteTokens: this.#used.cacheWriteTokens + call.cacheWriteInputTokens,
    };
    if (threadId === this.id && modelContextWindow) {
      this.#context = { used: last.totalTokens, size: modelContextWindow };
    }
    if (this.#ended) this.#emit({ type: 'spending', usage: this.#used, model: this.model });
  }

  #hearServer({ name, status, error }: NewsOf<'mcpServer/startupStatus/updated'>): void {
    if (name !== this.teamServer || status === 'starting') return;
    this.#toolsStarted.resolve();
    if (status !== 'failed') return;
    this.#flow.flush();
    this.#emit({ type: 'text', text: `[The tools of the team cannot be reached: ${error ?? 'no reason was given'}]` });
  }

  #hearLimits({ rateLimits }: NewsOf<'account/rateLimits/updated'>): void {
    const windows = windowsOf(rateLimits);
    for (const window of windows) this.#windows.set(window.name, window);
    if (windows.length > 0) this.#emit({ type: 'limits', windows });
  }

  #hearTrouble({ error, willRetry }: NewsOf<'error'>): void {
    if (!willRetry) return;
    this.#flow.flush();
    this.#emit({ type: 'waiting', reason: `the model does not answer (${error.message})` });
  }

  #hearEnd({ turn }: NewsOf<'turn/completed'>): void {
    if (this.#turnId !== undefined && turn.id !== this.#turnId) return;
    this.#flow.flush();
    this.#emit({
      type: 'usage',
      usage: { ...this.#used, turns: 1 },
      model: this.model,
      ...(this.#context && { context: this.#context }),
    });
    const text = this.#text;
    // A refusal is a part of a message that Codex leaves out: nothing is left of the turn.
    if (turn.status === 'completed' && text === '' && this.#items.size === 0) {
      const error = 'the model gave no answer: it may have refused';
      this.#ended?.resolve({ type: 'turnEnd', reason: 'failed', text, error, trouble: 'refused' });
    } else if (turn.status === 'completed') this.#ended?.resolve({ type: 'turnEnd', reason: 'done', text });
    else if (turn.status === 'interrupted') this.#ended?.resolve({ type: 'turnEnd', reason: 'cancelled', text });
    else {
      const error =
        plainError(turn.error?.message ?? `the turn ended as ${turn.status}`) + errorKind(turn.error?.codexErrorInfo);
      const trouble = turn.error ? troubleIn(turn.error, this.#windows.values()) : {};
      this.#ended?.resolve({ type: 'turnEnd', reason: 'failed', text, error, ...trouble });
    }
    this.#ended = undefined;
  }
}

function difference(a: Tokens, b: Tokens): Tokens {
  return {
    totalTokens: a.totalTokens - b.totalTokens,
    inputTokens: a.inputTokens - b.inputTokens,
    cachedInputTokens: a.cachedInputTokens - b.cachedInputTokens,
    cacheWriteInputTokens: a.cacheWriteInputTokens - b.cacheWriteInputTokens,
    outputTokens: a.outputTokens - b.outputTokens,
  };
}

function toolOf(item: Item): { name: string; input: unknown } | undefined {
  switch (item.type) {
    case 'commandExecution':
      return { name: 'shell', input: { command: item.command } };
    case 'fileChange':
      return { name: 'edit', input: { paths: item.changes?.map(({ path }) => path), changes: item.changes } };
    case 'mcpToolCall':
      return { name: `mcp__${item.server}__${item.tool}`, input: item.arguments };
    case SUBAGENT:
      return { name: item.tool ?? 'subagent', input: undefined };
    case 'sleep':
      return { name: 'sleep', input: undefined };
    case 'webSearch':
      return { name: 'web_search', input: { query: item.query } };
    default:
      return undefined;
  }
}

function outputOf({ aggregatedOutput, error, result }: Item): { output?: string } {
  const output = aggregatedOutput ?? error?.message ?? (result == null ? undefined : JSON.stringify(result));
  return output === undefined ? {} : { output: keepOutput(output) };
}

/** Extracts the message of an error that is a server's raw answer. */
function plainError(message: string): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : message;
  } catch {
    return message;
  }
}

/** Codex's error kind, if it has one: its messages alone do not say that a server is overloaded. */
function errorKind(info: unknown): string {
  if (typeof info !== 'string' || info === 'other') return '';
  return ` (${info.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)})`;
}
