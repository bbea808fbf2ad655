import { troubleOfStatus } from '../../core/trouble.ts';
import type { AgentEvent, AgentSession, StartOptions, Turn, TurnEnd } from '../agent.ts';
import { within } from '../live-program.ts';
import type { LiveProgram } from '../live-program.ts';
import { turnByTurn } from '../turns.ts';
import { connect, takeBack } from './connection.ts';
import type { Connection, Heard } from './connection.ts';
import { isDenied, troubleIn } from './limits.ts';
import type { Hints } from './limits.ts';
import type { Result } from './lines.ts';
import { newPermissions } from './permissions.ts';
import { newSpending } from './spending.ts';
import { newTelling } from './telling.ts';
import { newMeter } from './usage.ts';

/** A running turn: the ids of its unanswered texts, and the results so far. */
interface Running {
  readonly main: string;
  readonly open: Set<string>;
  readonly results: Result[];
  /** What else it says about the end. */
  readonly hints: Hints;
  readonly ended: PromiseWithResolvers<void>;
  /** It is being ended: new texts go to the next turn. */
  stopping: boolean;
}

/** An interrupt has no effect while a turn is only beginning, so it is repeated after this time. */
const INTERRUPT_AGAIN_MS = 1_000;

/** Enough for several requests on a busy machine. */
const CANCEL_MS = 10_000;

/** A running Claude Code that is not a session yet. */
export interface Opened {
  /** Resolves when it is ready for a turn; rejects with its message if it ended instead. */
  readonly ready: Promise<void>;
  session(id: string): AgentSession;
}

/** How it was started. */
export interface Starting extends Pick<StartOptions, 'mode' | 'tools'> {
  readonly resumes: boolean;
  /** How long a cancelled turn may take to end before the program is killed. */
  readonly cancelMs?: number | undefined;
  /** How often to ask for the usage of a running turn at most. */
  readonly usageMs?: number | undefined;
}

/** Opens a connection to a new Claude Code process. */
export function openSession(program: LiveProgram, start: Starting): Opened {
  /** The message ids of each of our texts, until its echo shows that the model has them. */
  const unshown = new Map<string, readonly string[]>();
  const meter = newMeter(start);
  let running: Running | undefined;
  // Outside of our turns nobody listens, for example when a background program of its own ends.
  let emit = (_event: AgentEvent): void => {};
  const tell = (event: AgentEvent): void => emit(event);
  const telling = newTelling(tell);
  const teamPrefix = start.tools && `mcp__${start.tools.name}__`;
  const permissions = newPermissions({ mode: start.mode, teamPrefix, tell, isHeard: () => running !== undefined });
  const connection = connect(program, { heard, asked: (request) => permissions.ask(request) });
  const spending = newSpending({
    resumes: start.resumes,
    ask: () => connection.request({ subtype: 'get_usage' }),
    tell: (usage) => tell({ type: 'spending', usage }),
    everyMs: start.usageMs,
  });
  /** Its error messages before it was ready, which explain its end. */
  let lastWords = '';
  const ready = connection.request({ subtype: 'initialize', hooks: null }).then(
    () => undefined,
    (error: unknown) => {
      throw new Error(lastWords || (error as Error).message, { cause: error });
    },
  );

  function heard(said: Heard): void {
    if (said.type === 'result') hearResult(said);
    else if (said.type === 'control_cancel_request') permissions.withdraw(said.request_id);
    else if (said.type === 'command_lifecycle') hearLifecycle(said.command_uuid, said.state);
    else if (said.type === 'user' && said.isReplay) show(said.uuid);
    else {
      if (said.type === 'assistant' && !said.parent_tool_use_id) meter.answered(said.message);
      if (running) takeHints(running.hints, said);
      if (running && !running.stopping && isDenied(running.hints)) void interrupt(connection, program, running);
      if (said.type === 'assistant' || said.type === 'user') spending.news();
      telling.hear(said);
    }
  }

  function show(uuid = ''): void {
    const messageIds = unshown.get(uuid);
    unshown.delete(uuid);
    if (messageIds && messageIds.length > 0) tell({ type: 'shown', messageIds });
  }

  /**
   * A result names the texts that it answers. A text that came too late to join a turn gets its own result. To us that
   * is still the same turn, which ends when no text is open. A result that names none of ours belongs to a turn that it
   * began by itself. Versions that name none at all answer the oldest text.
   */
  function hearResult(result: Result): void {
    const current = running;
    meter.add(result);
    spending.settle(result);
    // The usage of its own turns between ours is reported with our next one.
    if (!current) lastWords = result.errors?.join('; ') ?? '';
    if (!current) return;
    const answered = result.user_message_uuids ?? (result.origin ? [] : [...current.open].slice(0, 1));
    const ours = answered.filter((uuid) => current.open.delete(uuid));
    if (ours.length > 0) current.results.push(result);
    const over = ours.length > 0 && current.open.size === 0;
    const { usage, context } = meter.take();
    tell({ type: 'usage', usage: { ...usage, turns: over ? 1 : 0 }, ...(context && { context }) });
    if (over) current.ended.resolve();
  }

  /**
   * A text that joined a turn is completed before that turn's result, which may not name it. A text that is interrupted
   * after it left the queue, but before it began, is cancelled without any result.
   */
  function hearLifecycle(uuid: string, state: string): void {
    if (state !== 'cancelled' && (state !== 'completed' || uuid === running?.main)) return;
    if (running?.open.delete(uuid) && running.open.size === 0) running.ended.resolve();
  }

  function sendText(turn: Turn, more: object = {}): string {
    const uuid = crypto.randomUUID();
    unshown.set(
      uuid,
      turn.messages.map(({ id }) => id),
    );
    // A slash at the very beginning would make it a command.
    const content = turn.text.startsWith('/') ? ` ${turn.text}` : turn.text;
    const message = { role: 'user', content };
    connection.send({ type: 'user', uuid, message, parent_tool_use_id: null, ...more });
    return uuid;
  }

  async function run(turn: Turn, tellTurn: (event: AgentEvent) => void, signal: AbortSignal): Promise<TurnEnd> {
    emit = tellTurn;
    const ended = Promise.withResolvers<void>();
    spending.begin();
    const main = sendText(turn);
    const current: Running = { main, open: new Set([main]), results: [], hints: {}, ended, stopping: false };
    running = current;
    const onAbort = (): void => void interrupt(connection, program, current, start.cancelMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const reason = await Promise.race([ended.promise, connection.gone]);
      if (typeof reason === 'string' && !signal.aborted) throw new Error(reason);
      return endOf(current, signal.aborted);
    } finally {
      running = undefined;
      spending.end();
      unshown.clear();
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    ready,
    session: (id) =>
      turnByTurn(id, run, {
        async steer(turn) {
          if (!running || running.stopping) return false;
          running.open.add(sendText(turn, { priority: 'next' }));
          return true;
        },
        holdsTools: true,
        close: () => program.close(),
        gone: connection.gone,
      }),
  };
}

/** Ends a turn. A program that is stuck answers no request at all; then it is killed. */
async function interrupt(
  connection: Connection,
  program: LiveProgram,
  current: Running,
  cancelMs = CANCEL_MS,
): Promise<void> {
  current.stopping = true;
  // If the program goes meanwhile, that also ends the turn.
  void askToEnd(connection, current).catch(() => {});
  if (!(await within(Promise.race([current.ended.promise, connection.gone]), cancelMs))) await program.close();
}

/**
 * Takes back the texts that the turn has not begun with, then interrupts the rest. A queued text would otherwise start
 * its own turn after the interrupt.
 */
async function askToEnd(connection: Connection, current: Running): Promise<void> {
  for (const uuid of [...current.open].reverse()) {
    if (await takeBack(connection, uuid)) current.open.delete(uuid);
  }
  if (current.open.size === 0) current.ended.resolve();
  while (current.open.size > 0) {
    await connection.request({ subtype: 'interrupt' });
    if (await within(current.ended.promise, INTERRUPT_AGAIN_MS)) return;
  }
}

/** How a turn ended, from the results of its parts: the last one decides, and all texts are kept. */
function endOf({ results, hints }: Pick<Running, 'results' | 'hints'>, cancelled: boolean): TurnEnd {
  const text = results.flatMap(({ is_error: failed, result }) => (failed || !result ? [] : [result])).join('\n\n');
  const last = results.at(-1);
  const isAborted = last?.terminal_reason?.startsWith('aborted_') === true;
  if (cancelled || (isAborted && !isDenied(hints))) return { type: 'turnEnd', reason: 'cancelled', text };
  if (last && isRefusal(last, hints)) {
    const error = `the model refused: ${last.result || 'it gave no reason'}`;
    return { type: 'turnEnd', reason: 'failed', text, error, trouble: 'refused' };
  }
  const isDone = last?.subtype === 'success' && !last.is_error && !isAborted;
  if (isDone) return { type: 'turnEnd', reason: 'done', text };
  if (isDenied(hints)) {
    const error = 'the model does not accept the login (401)';
    return { type: 'turnEnd', reason: 'failed', text, error, trouble: 'unauthorised' };
  }
  const error = last?.result || last?.errors?.join('; ') || last?.subtype || 'Claude Code gave no result';
  return { type: 'turnEnd', reason: 'failed', text, error, ...troubleIn(last, hints) };
}

/** The model's own verdict, not its words: a text that says no may be a good result. */
function isRefusal({ stop_reason: reason }: Result, hints: Hints): boolean {
  return reason === 'refusal' || hints.stopReason === 'refusal';
}

function takeHints(hints: Hints, said: Heard): void {
  if (said.type === 'rate_limit_event') hints.limit = said.rate_limit_info;
  if (said.type === 'system' && said.subtype === 'api_retry') {
    const { denied = 0 } = hints;
    // The turn is being ended for it: nothing that comes now changes why.
    if (!isDenied(hints)) hints.denied = troubleOfStatus(said.error_status) === 'unauthorised' ? denied + 1 : 0;
  }
  if (said.type !== 'assistant' || said.parent_tool_use_id) return;
  if (!isDenied(hints)) hints.denied = 0;
  hints.error = said.error ?? undefined;
  hints.stopReason = said.message.stop_reason ?? undefined;
}
