import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentEvent, AgentSession, Mode, StartOptions, Turn, TurnEnd } from '../../agents/agent.ts';
import { turnByTurn } from '../../agents/turns.ts';
import { inboxOf, takeEntries } from '../inbox-file.ts';
import type { NewEntry } from '../inbox-file.ts';
import { readNow } from '../json-file.ts';
import type { NativePaths } from '../layout.ts';
import { newConversation } from './conversation.ts';
import { readLeadMail } from './lead-mail.ts';
import { protocolLetter, writeLetters } from './letters.ts';
import type { Letters, OpenPlan } from './letters.ts';
import type { Pane } from './pane.ts';
import { askPermissions } from './permissions.ts';
import { followRecord, newTools } from './record.ts';
import type { Told } from './record.ts';

/** The parts of a session. */
export interface NativeSessionOptions {
  readonly id: string;
  readonly resumes: boolean;
  readonly start: StartOptions;
  readonly root: string;
  readonly paths: NativePaths;
  readonly leadId: string;
  /** Whether it leads our team. */
  readonly leads: boolean;
  /** How long a cancelled turn may take to end before the program is killed. */
  readonly cancelMs?: number | undefined;
  /** Adds entries to the member's inbox, and removes the waiting ones with the keys in `covered`. */
  readonly write: (entries: readonly NewEntry[], covered?: readonly string[]) => Promise<void>;
  /** Starts the program, which reads its inbox as it is. */
  readonly launch: (how: { mode: Mode; resumes: boolean }) => Promise<Pane>;
  /** Removes the member from the native team. */
  readonly leave: () => Promise<void>;
}

/** How often we read the program's files: in a turn, and between turns. The program itself reads once a second. */
const LOOK_MS = 100;
const LOOK_IDLE_MS = 1_000;

/** How long to wait for the record of a turn: it is written a moment after the program reports the end. */
const SETTLE_MS = 2_000;

/** After this long without a sign, a person is asked to look at the terminal: it may show a question. */
const SILENT_MS = 30_000;

/** Shown on the screen while the program retries a request to its model. */
const RETRIES = /\bretrying in\b/i;

/** Escape has no effect while a turn is only beginning, and twice in quick succession it opens a menu. */
const ESCAPE_AGAIN_MS = 1_500;
const CANCEL_MS = 6_000;

/** How long a member that agreed to stop may take to end. */
const FAREWELL_MS = 3_000;

/** A member that does not answer a stop request in this time is taken to agree. */
const STOP_MS = 60_000;

/** A lead of ours is a teammate to Claude Code. */
const FROM_TROUPE =
  'What "team-lead" writes to you comes from Troupe, which runs your team: digests of it, and your goal.';

/** A session of Claude Code in its terminal: turns go through its inbox, results are in its record. */
export function openNativeSession(options: NativeSessionOptions): AgentSession {
  const { start, paths, write, cancelMs = CANCEL_MS } = options;
  const record = followRecord(options.root, options.id);
  const leadMail = readLeadMail(paths, start.memberId);
  const conversation = newConversation();
  const answers = new Map<string, { agreed: boolean; reason?: string }>();
  const gone = Promise.withResolvers<string>();
  let pane: Pane | undefined;
  let { mode } = start;
  let resumes = options.resumes;
  let needsRole = !options.resumes;
  let plan: OpenPlan | undefined;
  let approved: Mode | undefined;
  let emit: ((event: AgentEvent) => void) | undefined;
  let busy = 0;
  let heardAt = 0;
  let leaving = false;
  let closed = false;
  let looking: Promise<void> | undefined;
  let wake = (): void => {};
  let tick = new Promise<void>((resolve) => (wake = resolve));

  const tools = newTools((event) => emit?.(event));
  const permissions = askPermissions({
    isFull: () => mode === 'full',
    tell: () => emit,
    answer: (protocol) => write([protocolLetter(protocol)]),
  });

  const hear = (told: Told): void => {
    heardAt = performance.now();
    conversation.hear(told);
    tools.hear(told);
    if (told.type !== 'compacted') return;
    needsRole = true;
    emit?.({ type: 'compacted' });
  };

  const look = async (): Promise<void> => {
    for (const told of record.read()) hear(told);
    for (const { at, protocol } of leadMail.look()) {
      if (protocol.type === 'idle_notification') {
        const { result, failureReason: failure } = protocol;
        conversation.ended({ at, how: 'idle', result, failure });
      } else if (protocol.type === 'plan_approval_request') {
        plan = { requestId: protocol.requestId, content: protocol.planContent ?? '' };
      } else if (protocol.type === 'permission_request') permissions.ask(protocol);
      else if (protocol.type === 'shutdown_approved') answers.set(protocol.requestId, { agreed: true });
      else if (protocol.type === 'shutdown_rejected') {
        answers.set(protocol.requestId, { agreed: false, reason: protocol.reason ?? 'it did not say why' });
      }
    }
    const ending = await pane?.ending();
    if (ending !== undefined && !leaving && !closed) gone.resolve(ending);
    wake();
    tick = new Promise((resolve) => (wake = resolve));
  };

  const watch = async (): Promise<void> => {
    let lastLook = 0;
    while (!closed) {
      if (busy > 0 || performance.now() - lastLook >= LOOK_IDLE_MS) {
        lastLook = performance.now();
        // What is unreadable now is read later.
        await look().catch(() => {});
      }
      await sleep(LOOK_MS);
    }
  };

  /** Delivers entries to the program, and starts it if it does not run. */
  const deliver = async ({ entries, covered }: Letters): Promise<void> => {
    if (entries.length > 0) await write(entries, covered);
    if (pane) return;
    pane = await options.launch({ mode, resumes });
    resumes = true;
    start.onProcess?.(pane.screen.pid);
    looking ??= watch();
  };

  /** Whether any of these entries still waits in the inbox. */
  const lies = (ids: ReadonlySet<string>): boolean => {
    const inbox = inboxOf(readNow(paths.inbox(start.memberId)));
    return inbox.kind === 'read' && inbox.entries.some(({ msg_id: id = '', read }) => read !== true && ids.has(id));
  };

  async function run(turn: Turn, tell: (event: AgentEvent) => void, signal: AbortSignal): Promise<TurnEnd> {
    emit = tell;
    busy++;
    try {
      const role = needsRole ? (options.leads ? `${start.role}\n\n${FROM_TROUPE}` : start.role) : undefined;
      const letters = writeLetters(turn, { leadId: options.leadId, leads: options.leads, role, plan, approved });
      if (letters.entries.length > 0) needsRole = false;
      if (approved) approved = undefined;
      plan = undefined;
      const after = letters.entries.length > 0 ? conversation.count : 0;
      await deliver(letters);
      permissions.resume();
      return await followTurn(turn, letters, { after, tell, signal });
    } finally {
      busy--;
      emit = undefined;
      await leadMail.tidy().catch(() => {});
    }
  }

  async function followTurn(
    turn: Turn,
    { entries, texts }: Letters,
    { after, tell, signal }: { after: number; tell: (event: AgentEvent) => void; signal: AbortSignal },
  ): Promise<TurnEnd> {
    const ids = new Set(entries.map(({ id }) => id));
    const unshown = new Set(turn.messages);
    let readAt: number | undefined;
    let endedAt: number | undefined;
    let silentSince = performance.now();
    for (let escapedAt = 0, giveUpAt: number | undefined; ; await tick) {
      const lost = await Promise.race([gone.promise, Promise.resolve(undefined)]);
      if (lost !== undefined && signal.aborted) return CANCELLED;
      if (lost !== undefined) return { type: 'turnEnd', reason: 'failed', text: '', error: lost, lost: true };
      if (readAt === undefined && (ids.size === 0 || !lies(ids))) readAt = Date.now();
      const begun = conversation.begun(texts, after, { any: readAt !== undefined && ids.size > 0 });
      const seen = [...unshown].filter(({ content }) => begun !== undefined || conversation.isShown(content));
      if (seen.length > 0) tell({ type: 'shown', messageIds: seen.map(({ id }) => id) });
      for (const message of seen) unshown.delete(message);
      // If we cannot find the record, the idle notice still marks the end.
      const end = conversation.endOf(begun ?? readAt ?? Infinity);
      if (end) {
        endedAt ??= performance.now();
        const from = begun ?? readAt ?? 0;
        if (conversation.isWhole(from) || performance.now() - endedAt > SETTLE_MS) return finish(from, end, signal);
        continue;
      }
      if (signal.aborted) {
        if (readAt === undefined && (await takeBack(ids))) return CANCELLED;
        if (begun !== undefined && performance.now() - escapedAt > ESCAPE_AGAIN_MS) {
          escapedAt = performance.now();
          giveUpAt ??= escapedAt + cancelMs;
          if (escapedAt > giveUpAt) return giveUp();
          permissions.deny('the turn was cancelled');
          await pane?.screen.pressEscape().catch(() => {});
        }
        continue;
      }
      silentSince = Math.max(silentSince, heardAt);
      if (performance.now() - silentSince > SILENT_MS) {
        silentSince = performance.now();
        const reason = await whyItWaits(begun !== undefined);
        if (reason !== undefined) tell({ type: 'waiting', reason });
      }
    }
  }

  async function finish(from: number, end: { how: string }, signal: AbortSignal): Promise<TurnEnd> {
    const { usage, model } = conversation.takeUsage();
    emit?.({ type: 'usage', usage: { ...usage, turns: 1 }, model });
    const { text, error, trouble } = conversation.outcome(from, { at: from, how: 'over' });
    if (signal.aborted || end.how === 'interrupted') return { type: 'turnEnd', reason: 'cancelled', text };
    if (error !== undefined) {
      return { type: 'turnEnd', reason: 'failed', text, error, ...(trouble && { trouble }) };
    }
    return { type: 'turnEnd', reason: 'done', text: mode === 'plan' && plan ? plan.content : text };
  }

  /** The program ignored Escape: kills it. */
  async function giveUp(): Promise<TurnEnd> {
    gone.resolve(`The turn of ${start.memberId} could not be interrupted`);
    await pane?.close();
    return CANCELLED;
  }

  /** Removes the entries that the program has not read; returns whether that was all of them. */
  const takeBack = async (ids: ReadonlySet<string>): Promise<boolean> => {
    const isOurs = ({ msg_id: id }: { msg_id?: string | undefined }): boolean => ids.has(id ?? '');
    return takeEntries(paths.inbox(start.memberId), isOurs, { era: 'removes-read' });
  };

  /** Only the screen shows that the model does not answer, or that a question waits for a person. */
  const whyItWaits = async (hasBegun: boolean): Promise<string | undefined> => {
    const shown = (await pane?.screen.text()) ?? '';
    const lines = shown.split('\n').filter((line) => line.trim() !== '');
    if (hasBegun) return lines.find((line) => RETRIES.test(line))?.trim();
    const hint = `look at its terminal with: troupe attach ${start.memberId}`;
    return `it has not started its turn; ${hint}. It shows: ${lines.slice(-6).join(' | ')}`;
  };

  /** A member that agreed to stop ends by itself. Killed during its last write, it would leave half a file. */
  const goneByItself = async (): Promise<void> => {
    const giveUpAt = performance.now() + FAREWELL_MS;
    while (pane && (await pane.ending()) === undefined && performance.now() < giveUpAt) await sleep(LOOK_MS);
  };

  return turnByTurn(options.id, run, {
    gone: gone.promise,
    ...(options.leads && { holdsTools: true as const }),
    async changeMode(wanted) {
      if (pane && !plan) return false;
      if (pane) approved = wanted;
      mode = wanted;
      return true;
    },
    async askToStop(reason) {
      // A lead has no tool to answer with.
      if (!pane || closed || options.leads) return { agreed: true };
      const requestId = `shutdown-${Date.now()}@${start.memberId}`;
      busy++;
      try {
        leaving = true;
        const after = conversation.count;
        await write([protocolLetter({ type: 'shutdown_request', requestId, from: 'team-lead', reason })]);
        const giveUpAt = performance.now() + STOP_MS;
        for (;;) {
          const answer = answers.get(requestId);
          if (answer) return answer;
          const begun = conversation.begun([requestId], after);
          const isOver = begun !== undefined && conversation.endOf(begun) !== undefined;
          // It answered neither yes nor no, it is gone, or it does not answer at all.
          if (isOver || performance.now() > giveUpAt || (await pane.ending()) !== undefined) return { agreed: true };
          await tick;
        }
      } finally {
        leaving = answers.get(requestId)?.agreed !== false;
        busy--;
      }
    },
    async close() {
      closed = true;
      if (leaving) await goneByItself();
      await pane?.close();
      await looking;
      await options.leave();
    },
  });
}

const CANCELLED: TurnEnd = { type: 'turnEnd', reason: 'cancelled', text: '' };
