import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { CallError } from '../../../client/client.ts';
import type { Client } from '../../../client/client.ts';
import { isTeamAgent } from '../../../core/agent-kinds.ts';
import { answererOf, isAnsweredBy } from '../../../core/request.ts';
import { firstLine } from '../../../core/text.ts';
import { meaningOfNo, meaningOfYes } from '../../show/views/waiting.ts';
import { answerCommand } from '../../show/words.ts';
import { answer } from '../approve.ts';
import type { Standing } from '../up/standing.ts';
import { textContent, titleOf } from './tool-calls.ts';

type Request = Standing['requests'][number];

/** How a client is asked. */
export interface Asking {
  readonly client: Client;
  readonly askPermission: (
    request: Omit<RequestPermissionRequest, 'sessionId'>,
    signal: AbortSignal,
  ) => Promise<RequestPermissionResponse>;
  /** Asks for a text; undefined if the client has no forms. */
  readonly askText:
    | ((
        request: { message: string; requestedSchema: FormSchema },
        signal: AbortSignal,
      ) => Promise<CreateElicitationResponse>)
    | undefined;
  readonly say: (text: string) => Promise<void>;
}

type FormSchema = Extract<CreateElicitationRequest, { requestedSchema: unknown }>['requestedSchema'];

/** Passes the requests of a team on to the client, each once until it changes. */
export class Requests {
  readonly #asking: Asking;
  readonly #asked = new Map<string, AbortController>();
  readonly #under = new Set<Promise<void>>();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** Whether the client has an answer to give. */
  get isAsking(): boolean {
    return this.#under.size > 0;
  }

  /** Asks what was not asked yet, and takes questions back that were answered elsewhere. */
  look({ requests, members }: Pick<Standing, 'requests' | 'members'>, leadId: string): void {
    const open = new Set(requests.map(keyOf));
    for (const [key, controller] of this.#asked) if (!open.has(key)) controller.abort();
    for (const request of requests) {
      if (this.#asked.has(keyOf(request)) || isForMember(request, members, leadId)) continue;
      const controller = new AbortController();
      this.#asked.set(keyOf(request), controller);
      const asking = this.#ask(request, controller.signal)
        .catch((error: unknown) => this.#failed(request, error, controller.signal))
        .finally(() => this.#under.delete(asking));
      this.#under.add(asking);
    }
  }

  /** The oldest question that only a text can answer, if the client cannot be asked for one. */
  nextText(requests: readonly Request[]): Request | undefined {
    return this.#asking.askText ? undefined : requests.find(needsText);
  }

  /** Answers a question with a text. */
  async answerText(request: Request, text: string): Promise<void> {
    await answer(this.#asking.client, request, { approve: true, feedback: text, comments: [], signal: NEVER });
  }

  /** Takes all questions back. They are asked again when the next prompt begins. */
  withdraw(): void {
    for (const controller of this.#asked.values()) controller.abort();
    this.#asked.clear();
  }

  async #ask(request: Request, signal: AbortSignal): Promise<void> {
    if (needsText(request)) return this.#askForText(request, signal);
    const options = optionsFor(request);
    const { outcome } = await this.#asking.askPermission(
      {
        toolCall: {
          toolCallId: `request-${request.id}`,
          title: titleOf(whoAsks(request), firstLine(request.content)),
          kind: request.kind === 'permission' ? 'execute' : 'other',
          status: 'pending',
          content: textContent(wholeQuestion(request)),
          ...(request.detail && { rawInput: request.detail }),
        },
        options,
      },
      signal,
    );
    if (signal.aborted) return;
    const chosen = options.findIndex(({ optionId }) => outcome.outcome === 'selected' && optionId === outcome.optionId);
    if (chosen === -1) return this.#asking.say(howToAnswer(request));
    const { choices = [] } = request.question ?? {};
    const choice = choices[chosen];
    const approve = options[chosen]?.kind === 'allow_once';
    await answer(this.#asking.client, request, { approve, feedback: undefined, choice, comments: [], signal: NEVER });
  }

  async #askForText(request: Request, signal: AbortSignal): Promise<void> {
    const { askText } = this.#asking;
    // The prompt ends with the question, and the next prompt is the answer.
    if (!askText) return;
    const answered = await askText(
      {
        message: `${whoAsks(request)} asks: ${request.content}`,
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      },
      signal,
    );
    if (signal.aborted) return;
    const content = answered.action === 'accept' ? (answered as { content?: { answer?: unknown } }).content : undefined;
    if (typeof content?.answer === 'string') return this.answerText(request, content.answer);
    await this.#asking.say(howToAnswer(request));
  }

  /** Somebody else was faster, or the client cannot ask. */
  async #failed(request: Request, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (error instanceof CallError && error.code === 'conflict') return;
    await this.#asking.say(`${howToAnswer(request)} (${error instanceof Error ? error.message : String(error)})`);
  }
}

const NEVER = new AbortController().signal;

/** How often teams inside of members are looked at: what they ask is no event of the team. */
const INNER_MS = 1_000;

/** Whether to look at requests again, without an event. */
export function isDue({ members }: Pick<Standing, 'members'>, lookedAt: number): boolean {
  return performance.now() - lookedAt >= INNER_MS && members.some(({ agent }) => agent && isTeamAgent(agent));
}

/** An answer holds for what was shown: a request that changed is asked again. */
function keyOf({ teamId, id, revision = '' }: Request): string {
  return `${teamId} ${id} ${revision}`;
}

/** The member that asks, with the way to it if its team is inside another. */
export function whoAsks({ path, memberId }: Request): string {
  return path ?? memberId;
}

/** A review goes to its member, and a plan to a lead that is an agent: a team inside a member always has one. */
function isForMember(request: Request, members: Standing['members'], leadId: string): boolean {
  if (request.through !== undefined) return answererOf(request.kind) !== 'person';
  return members.some(
    ({ id, agent, status }) =>
      agent !== undefined && status !== 'stopped' && isAnsweredBy(request, { memberId: id, leadId }),
  );
}

/** Whether only a text can answer it. */
function needsText({ kind, question }: Request): boolean {
  return kind === 'question' && (question?.choices ?? []).length === 0;
}

/** The choices of a question come first, in their order. */
function optionsFor(request: Request): PermissionOption[] {
  const { question } = request;
  const no: PermissionOption = { optionId: 'no', name: action(meaningOfNo(request)), kind: 'reject_once' };
  if (question) {
    const choices = question.choices.map((name, i): PermissionOption => ({
      optionId: `choice-${i + 1}`,
      name,
      kind: 'allow_once',
    }));
    return [...choices, no];
  }
  return [{ optionId: 'yes', name: action(meaningOfYes(request)), kind: 'allow_once' }, no];
}

/** `To allow it` as the text of a button. */
function action(meaning: string): string {
  const words = meaning.replace(/^To /, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function wholeQuestion({ content, taskId, kind, detail }: Request): string {
  const about = taskId === undefined ? kind : `${kind}, task #${taskId}`;
  const { input } = (detail ?? {}) as { input?: unknown };
  const given = typeof input === 'string' ? input : input === undefined ? '' : JSON.stringify(input, null, 2);
  return [`(${about})`, content, ...(given === '' || content.includes(given) ? [] : [given])].join('\n');
}

/** How to answer outside of the client. */
export function howToAnswer(request: Request): string {
  const { kind, content, teamId, id, question } = request;
  const command = `${answerCommand(request)} ${id}${question ? ' "…"' : ''} --team ${teamId}`;
  return `${whoAsks(request)} waits for an answer (${kind}): ${content}\nAnswer it in a terminal with \`${command}\`, or in the dashboard (\`troupe ui\`).`;
}
