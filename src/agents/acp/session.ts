import type {
  ClientContext,
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { troubleOfText } from '../../core/trouble.ts';
import type { Trouble } from '../../core/trouble.ts';
import type { AgentEvent, Mode, Turn, TurnEnd } from '../agent.ts';
import { lifeSigns } from '../alive.ts';
import { textFlow } from '../text.ts';
import type { AcpAgent } from './agents.ts';
import { Meter } from './meter.ts';
import { answerPermission } from './permissions.ts';
import { learn, toolEvent } from './tool.ts';
import type { KnownCall } from './tool.ts';
import { watchWaits } from './waits.ts';
import type { FindWait, WaitWatch } from './waits.ts';

type Emit = (event: AgentEvent) => void;

/** How often we continue a turn that the agent gave up because of a denial. */
const GO_ON_LIMIT = 3;

/** Makes a model read what is already in its history. */
const READ_ON = 'The message before this one came while you ended your turn. Read it, then continue.';

/** The parts of a session. */
export interface AcpSessionOptions {
  readonly agent: AcpAgent;
  readonly mode: Mode;
  readonly tools: string | undefined;
  /** Sent before its first prompt, if there is no other way to give it its role. */
  readonly preface: string | undefined;
  readonly isNew: boolean;
  /** Asks it whether it waits for its model, and how often. */
  readonly findWait?: FindWait | undefined;
  readonly lookMs?: number | undefined;
}

/** One conversation over ACP: its prompts and their results. */
export class AcpSession {
  readonly id: string;
  readonly #peer: ClientContext;
  readonly #options: AcpSessionOptions;
  readonly #meter: Meter;
  readonly #calls = new Map<string, KnownCall>();
  readonly #flow = textFlow((said) => this.#emit(said));
  readonly #alive = lifeSigns((event) => this.#emit(event));
  #preface: string | undefined;
  #emit: Emit = () => {};
  #cancelled = new AbortController();
  #waits: WaitWatch | undefined;
  /** The agent's text since its last tool call, and all of it. */
  #said: { last: string; all: string; messageId?: string | undefined } = { last: '', all: '' };
  /** What was denied since the agent last said something. */
  #denied: { tool: string; why: string | undefined } | undefined;
  /** Messages of the prompt: the model has them once it does something. */
  #unshown: string[] = [];
  /** Messages that joined the turn: the model gets them with its next call, and only the end of the turn shows it. */
  #joined: string[] = [];
  /** The history ends with a text that came while the agent ended its turn. */
  #unread = false;
  /** Prompts of this turn without an answer yet. */
  readonly #open = new Set<Promise<PromptResponse>>();

  constructor(id: string, peer: ClientContext, options: AcpSessionOptions) {
    this.id = id;
    this.#peer = peer;
    this.#options = options;
    this.#preface = options.preface;
    this.#meter = new Meter(options.agent.usage, options.isNew);
  }

  /** Runs a turn to its end; rejects if the agent refuses a prompt. */
  async run(turn: Turn, emit: Emit, signal: AbortSignal): Promise<TurnEnd> {
    this.#begin(emit, signal);
    this.#waits = this.#watchWaits();
    try {
      let response = await this.#settle(this.#prompt(turn.text, idsOf(turn)));
      for (let times = 0; this.#gaveUp(response, signal) && times < GO_ON_LIMIT; times++) {
        response = await this.#settle(this.#prompt(this.#explainDenial(), []));
      }
      while (this.#unread && response.stopReason === 'end_turn' && !signal.aborted) {
        this.#unread = false;
        response = await this.#settle(this.#prompt(READ_ON, []));
      }
      return (signal.aborted ? undefined : this.#waits?.limited()) ?? this.#end(response, signal);
    } finally {
      this.#waits?.stop();
      this.#flow.flush();
      const used = this.#meter.end();
      if (used) emit(used);
    }
  }

  /** Adds a text to the running turn; returns whether the agent took it. */
  async steer(turn: Turn): Promise<boolean> {
    const { steering } = this.#options.agent;
    if (steering === 'second prompt') {
      void this.#fold(turn).catch(() => {});
      return true;
    }
    if (steering === 'none') return false;
    const { outcome } = await this.#peer.request<{ outcome: string }>('_session/steering', {
      sessionId: this.id,
      prompt: [{ type: 'text', text: turn.text }],
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    });
    if (outcome === 'injected') this.#joined.push(...idsOf(turn));
    return outcome === 'injected';
  }

  /**
   * Sends a second prompt while the turn runs; the agent folds it in. An agent that was about to end stores the prompt
   * and answers it with its earlier text: then its model has not read it.
   */
  async #fold(turn: Turn): Promise<void> {
    const { messageId } = this.#said;
    await this.#prompt(turn.text, []);
    if (messageId === undefined || this.#said.messageId !== messageId) return this.#show(idsOf(turn));
    this.#unread = true;
    this.#unshown.push(...idsOf(turn));
  }

  /** Asks the agent to end the turn. */
  cancel(): void {
    this.#cancelled.abort();
    void this.#peer.notify('session/cancel', { sessionId: this.id }).catch(() => {});
  }

  hear(update: SessionUpdate): void {
    this.#waits?.heard();
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.#hearText(update.content.type === 'text' ? update.content.text : '', update.messageId ?? undefined);
        break;
      case 'tool_call':
      case 'tool_call_update': {
        this.#answered();
        this.#flow.flush();
        this.#said.last = '';
        const call = learn(this.#calls.get(update.toolCallId), update);
        this.#calls.set(update.toolCallId, call);
        this.#emit(toolEvent(call));
        break;
      }
      case 'agent_thought_chunk':
        this.#answered();
        this.#alive();
        break;
      case 'plan':
        this.#alive();
        break;
      case 'usage_update':
        this.#meter.hear(update);
        break;
      default:
        break;
    }
  }

  answer(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { agent, tools, mode } = this.#options;
    return answerPermission(request, {
      agent,
      tools,
      denies: mode === 'plan' || mode === 'delegate',
      grants: mode === 'full' && agent.asksInFull === true,
      known: this.#calls.get(request.toolCall.toolCallId),
      emit: (event) => this.#emit(event),
      signal: this.#cancelled.signal,
      onDenied: (tool, why) => (this.#denied = { tool, why }),
    });
  }

  #begin(emit: Emit, signal: AbortSignal): void {
    this.#emit = emit;
    this.#said = { last: '', all: '' };
    this.#denied = undefined;
    this.#unshown = [];
    this.#joined = [];
    this.#unread = false;
    this.#open.clear();
    this.#calls.clear();
    this.#meter.begin();
    this.#cancelled = new AbortController();
    signal.addEventListener('abort', () => this.#cancelled.abort(), { once: true });
  }

  #watchWaits(): WaitWatch | undefined {
    const { findWait, lookMs: everyMs } = this.#options;
    if (!findWait) return undefined;
    const find = (): ReturnType<FindWait> => findWait(this.id);
    return watchWaits({ find, tell: this.#emit, giveUp: () => this.cancel(), everyMs });
  }

  #prompt(text: string, messageIds: readonly string[]): Promise<PromptResponse> {
    this.#unshown.push(...messageIds);
    const texts = [...(this.#preface === undefined ? [] : [this.#preface]), text];
    this.#preface = undefined;
    const prompt: ContentBlock[] = texts.map((one) => ({ type: 'text', text: one }));
    const answer = this.#peer.request('session/prompt', { sessionId: this.id, prompt });
    this.#open.add(answer);
    answer.then(
      (response) => this.#meter.add(response),
      () => {},
    );
    return answer;
  }

  /** A turn is over when all its prompts are answered: a folded one may have come too late for the first. */
  async #settle(first: Promise<PromptResponse>): Promise<PromptResponse> {
    let response = await first;
    this.#open.delete(first);
    for (const next of this.#open) {
      response = await next.catch(() => response);
      this.#open.delete(next);
    }
    return response;
  }

  #hearText(text: string, messageId: string | undefined): void {
    if (text === '') return;
    this.#answered();
    this.#denied = undefined;
    // Only the last message is the answer. Agents without message ids end a message by using a tool.
    const isNext = messageId !== this.#said.messageId;
    if (isNext) this.#flow.flush();
    this.#said = { last: (isNext ? '' : this.#said.last) + text, all: this.#said.all + text, messageId };
    this.#flow.add(text);
  }

  #answered(): void {
    this.#show(this.#unshown.splice(0));
  }

  #show(messageIds: readonly string[]): void {
    if (messageIds.length > 0) this.#emit({ type: 'shown', messageIds });
  }

  /** Some agents end the turn in the middle of the work when something is denied. */
  #gaveUp({ stopReason }: PromptResponse, signal: AbortSignal): boolean {
    const isOver = stopReason === 'end_turn' || stopReason === 'cancelled';
    return this.#denied !== undefined && isOver && !signal.aborted;
  }

  #explainDenial(): string {
    const { tool = 'that', why } = this.#denied ?? {};
    this.#denied = undefined;
    const reason = why === undefined ? '' : ` (${why})`;
    return `You were not allowed to use ${tool}${reason}. Continue without it, or end your turn and say what is missing.`;
  }

  #end({ stopReason, usage }: PromptResponse, signal: AbortSignal): TurnEnd {
    const text = (this.#said.last || this.#said.all).trim();
    if (stopReason === 'cancelled' || signal.aborted) return { type: 'turnEnd', reason: 'cancelled', text };
    const failed = (error: string, trouble?: Trouble): TurnEnd => ({
      type: 'turnEnd',
      reason: 'failed',
      text,
      error,
      ...(trouble && { trouble }),
    });
    if (stopReason === 'refusal') return failed(`the model refused: ${text || 'it gave no reason'}`, 'refused');
    if (stopReason !== 'end_turn') return failed(STOPS[stopReason] ?? `the agent stopped: ${stopReason}`);
    if (this.#options.agent.failure === 'no usage' && !usage) {
      return failed(text || 'the model did not answer', troubleOfText(text));
    }
    // Some agents leave out what a model blocked: nothing is left of the turn.
    const isEmpty = text === '' && this.#calls.size === 0;
    if (isEmpty) return failed('the model gave no answer: it may have refused', 'refused');
    this.#show([...this.#unshown, ...this.#joined]);
    return { type: 'turnEnd', reason: 'done', text };
  }
}

const STOPS: Readonly<Record<string, string>> = {
  max_tokens: 'the answer was cut off: it reached the token limit',
  max_turn_requests: 'the turn was cut off: it reached the limit of model calls',
};

function idsOf({ messages }: Turn): string[] {
  return messages.map(({ id }) => id);
}
