import { z } from 'zod';
import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import type { TeamEvent } from '../../../core/event.ts';
import type { TeamState } from '../../../core/state.ts';
import { appendEntry } from '../../inbox-file.ts';
import type { NewEntry } from '../../inbox-file.ts';
import { isSafeName } from '../../layout.ts';
import { isUsualEnd, seatOf } from '../marks.ts';
import { uuidOf } from '../names.ts';
import type { Shared } from '../shared.ts';
import { decisionOf, noteShutdowns, openShutdowns, questionOf } from './requests.ts';

/**
 * What Troupe writes to native members: our members' protocol messages to the native lead, and its own lines to anyone.
 */
export interface Notices {
  /** Notes what an event means to the native lead: our member asks something, is idle, or is gone. */
  hear(event: TeamEvent, state: TeamState): Promise<void> | undefined;
  /** Writes a line of our own, once per matter; retries until it is written. */
  tell(to: string, text: string, matter: string): Promise<void>;
  /** Writes everything that waits; with `answers` also decisions about native shutdown requests. */
  pass(answers: boolean): Promise<void>;
  /** Resolves when everything noted so far is in the journal. */
  noted(): Promise<unknown>;
}

/**
 * The metadata key for notices to the native lead. They stay until they are in its inbox, across restarts of the
 * daemon.
 */
const OWED = 'nativeOwed';

/** How much of a longer text the journal keeps for the next daemon; this one writes all of it. */
const KEPT_LENGTH = 200;

/** At most this many; more wait only for a lead that has stopped reading, and a team's metadata is small. */
const OWED_AT_MOST = 40;

/** The text of a question is looked up when it is written. */
const Owed = z.object({
  id: z.string(),
  kind: z.enum(['idle', 'question', 'gone']),
  memberId: z.string(),
  requestId: z.string().optional(),
  /** The result of a turn, or why a member left. */
  text: z.string().optional(),
});
type Owed = z.output<typeof Owed>;

/** Starts with the notices in the journal. */
export function openNotices(shared: Shared): Notices {
  const { teamId, paths, naming, times, step, view } = shared;
  const lines = writeLines(shared);
  /** Full texts that the journal has only shortened. */
  const whole = new Map<string, string>();
  /** Serializes changes of the list. */
  let last: Promise<unknown> = Promise.resolve();
  const change = (edit: (owed: readonly Owed[]) => readonly Owed[]): Promise<void> => {
    const run = async (): Promise<void> => {
      const next = edit(await view(owedIn));
      const metadata = { [OWED]: next.length > 0 ? next.map((one) => ({ ...one })) : null };
      await shared.execute({ type: 'team.update', by: SYSTEM, metadata });
    };
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };

  const owe = async (debt: Omit<Owed, 'id'>): Promise<void> => {
    const id = crypto.randomUUID();
    const { text, ...rest } = debt;
    const owed: Owed = { ...rest, id, ...(text !== undefined && { text: text.slice(0, KEPT_LENGTH) }) };
    if (text !== undefined) whole.set(id, text);
    try {
      await change((before) => {
        const kept = [...before, owed].slice(-OWED_AT_MOST);
        if (kept.length <= before.length) {
          shared.report(`the lead of ${paths.name} did not get all notices`);
        }
        return kept;
      });
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      // A closed team stores nothing more, so we try once to write it.
      await step(`notice about ${debt.memberId} to the lead`, () => pay(owed));
    }
  };

  const pay = async (debt: Owed): Promise<void> => {
    const { kind, memberId, requestId = '' } = debt;
    const text = whole.get(debt.id) ?? debt.text;
    const id = uuidOf(`${teamId} owes ${debt.id}`);
    if (kind === 'gone') return tellGone(memberId, text, id);
    if (kind === 'idle') {
      // As Claude Code's own teammates do.
      const idle = { type: 'idle_notification', idleReason: 'available', ...(text !== undefined && { result: text }) };
      return write(memberId, idle, id);
    }
    // A question that was answered meanwhile is dropped.
    const question = await view((state) => {
      const request = state.requests.get(requestId);
      return request?.status === 'pending' ? questionOf(state, request, shared.stream) : undefined;
    });
    if (question) await write(memberId, question, id);
  };

  /** Tells the native lead that our member has left its seat, so that the lead cleans up. */
  const tellGone = async (memberId: string, reason: string | undefined, id: string): Promise<void> => {
    const name = await view((state) => naming.nameOf(state, memberId));
    const why = reason === undefined ? '' : `: ${reason}`;
    await write(memberId, `${name} has stopped${why}. Its tasks are free again.`, id);
    // The newest version accepts this only as an answer; otherwise it shows it as a text, which repeats the line above.
    if (shared.config()?.leadProcess !== undefined) return;
    const requestId = `shutdown-${Date.now()}@${name}`;
    const approval = { type: 'shutdown_approved', requestId, ...(await paneOf(memberId)) };
    await write(memberId, approval, uuidOf(`${id} approval`));
  };

  /** Answers native shutdown requests to our members once they are decided, also those from before a restart. */
  const answerShutdowns = async (): Promise<void> => {
    const decided = await view((state) =>
      Object.entries(openShutdowns(state)).flatMap(([memberId, requestId]) => {
        const answer = decisionOf(state, memberId);
        return answer ? [{ memberId, requestId, ...answer }] : [];
      }),
    );
    for (const { memberId, requestId, approved, reason } of decided) {
      const type = approved ? 'shutdown_approved' : 'shutdown_rejected';
      // A fixed id: if we end before this is noted, the entry is not written twice.
      const id = uuidOf(`${teamId} ${requestId}`);
      const pane = approved ? await paneOf(memberId) : {};
      await write(memberId, { type, requestId, ...(!approved && { reason }), ...pane }, id);
      const { [memberId]: _answered, ...rest } = await view(openShutdowns);
      await shared.attempt(noteShutdowns(rest), `shutdown of ${memberId}`);
    }
  };

  /** Writes a text or a protocol message into the lead's inbox, in our member's name. */
  const write = async (memberId: string, said: string | object, id: string): Promise<void> => {
    const { from, color } = await view((state) => ({
      from: naming.nameOf(state, memberId),
      color: state.members.get(memberId)?.color,
    }));
    const timestamp = new Date().toISOString();
    const text = typeof said === 'string' ? said : JSON.stringify({ ...said, from, timestamp });
    await appendEntry(paths, shared.leadName(), { from, text, timestamp, color, id }, times.files);
  };

  /** The pane of our member, as the native lead knows it. */
  const paneOf = async (memberId: string): Promise<object> => {
    const seat = await view((state) => {
      const member = state.members.get(memberId);
      return member && seatOf(member);
    });
    const listed = seat === undefined ? undefined : shared.config()?.members.find(({ name }) => name === seat);
    return listed?.tmuxPaneId ? { paneId: listed.tmuxPaneId, backendType: 'tmux' } : {};
  };

  return {
    hear(event, state) {
      if (!('memberId' in event) || event.memberId === undefined) return undefined;
      const { memberId } = event;
      const member = state.members.get(memberId);
      if (!member || naming.isNative(state, memberId)) return undefined;
      const isSeated = seatOf(member) !== undefined;
      if (isSeated && (event.type === 'plan:submitted' || event.type === 'request:raised')) {
        return owe({ kind: 'question', memberId, requestId: event.requestId });
      }
      if (isSeated && event.type === 'teammate:stopped' && isNews(event)) {
        return shared.config() && owe({ kind: 'gone', memberId, text: event.reason });
      }
      return event.type === 'teammate:idle' ? owe({ kind: 'idle', memberId, text: event.result }) : undefined;
    },
    tell: lines.tell,
    async pass(answers) {
      if (answers) await step('answers', answerShutdowns);
      for (const debt of naming.leads ? [] : await view(owedIn)) {
        await step(`notice about ${debt.memberId} to the lead (${debt.kind} ${debt.id.slice(0, 8)})`, async () => {
          await pay(debt);
          await change((owed) => owed.filter(({ id }) => id !== debt.id));
          whole.delete(debt.id);
        });
      }
      await lines.retry();
    },
    noted: () => last,
  };
}

function owedIn(state: TeamState): readonly Owed[] {
  return z.array(Owed).safeParse(state.team?.metadata?.[OWED]).data ?? [];
}

/** A member that left on request is no news for the lead that asked. */
function isNews({ reason, returning }: Extract<TeamEvent, { type: 'teammate:stopped' }>): boolean {
  return !returning && !isUsualEnd(reason);
}

/** Our own lines. Unlike members' messages, they are not kept for the next daemon. */
function writeLines({
  paths,
  teamId,
  leadName,
  step,
  times,
}: Shared): Pick<Notices, 'tell'> & { retry(): Promise<void> } {
  const told = new Set<string>();
  const untold = new Map<string, { to: string; entry: NewEntry }>();
  const retry = async (): Promise<void> => {
    for (const [matter, { to, entry }] of untold) {
      await step(`line to ${to} about ${matter}`, async () => {
        await appendEntry(paths, to, entry, times.files);
        untold.delete(matter);
      });
    }
  };
  return {
    async tell(to, text, matter) {
      if (told.has(matter)) return;
      told.add(matter);
      const timestamp = new Date().toISOString();
      const entry = { from: 'troupe', text, timestamp, id: uuidOf(`${teamId}-${matter}-${timestamp}`) };
      // A name that cannot be a path has no inbox; the lead gets the line instead.
      untold.set(matter, { to: isSafeName(to) ? to : leadName(), entry });
      await retry();
    },
    retry,
  };
}
