import { nounOf } from '../../core/event.ts';
import { composeNotices, NOTICE_NOUNS, noticesOf, stillHolds, WARNING } from '../../core/notice.ts';
import type { Notice } from '../../core/notice.ts';
import { quietUntil } from '../../core/quiet-hours.ts';
import type { TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Alarms } from '../alarms.ts';
import { openDelivery } from './delivery.ts';
import type { DeliveryOptions, Destination } from './delivery.ts';
import { openNoticeFile } from './notice-file.ts';
import type { TeamNotices } from './notice-file.ts';
import { channelsOf } from './settings.ts';
import type { Channel } from './settings.ts';

/** What keeping notices needs. */
export interface NoticesOptions extends DeliveryOptions {
  readonly ledger: Ledger;
  /** Remembers what was told. */
  readonly file: string;
  /** The address of the dashboard; undefined while it has none. */
  readonly dashboard: () => string | undefined;
  /** How the notices of a team, or of one that was deleted, are sent; undefined if nobody said so. */
  readonly sendingOf: (state: TeamState | undefined) => Sending | undefined;
  readonly onError: (error: unknown, teamId: string) => void;
  /** How long a notice waits for others, and for being answered, in milliseconds. */
  readonly collectMs?: number;
  /** The least time between two messages about a team, in milliseconds. */
  readonly everyMs?: number;
}

/** How the notices of a team are sent. */
export interface Sending extends Destination {
  /** The address of the dashboard in links, if another than the daemon's own. */
  readonly dashboard?: string | undefined;
  /** A link that answers a request; undefined if there is none. */
  readonly linkTo?: ((teamId: string, notice: Notice) => string | undefined) | undefined;
  /** Whether this daemon sends. Of several that share a journal, one does. */
  readonly isSender: () => boolean;
  /** Whether it may be sent now. If not, it waits. */
  readonly isAllowed?: (() => boolean) | undefined;
}

/** Long enough for a lead that goes on by itself, and for a person who is at the terminal anyway. */
const COLLECT_MS = 10_000;

const EVERY_MS = 60_000;

/**
 * Tells people outside of Troupe what needs them. What to tell follows from the state of a team; the file has what was
 * told. So a restart loses nothing, and repeats at most the message that was being sent at a kill.
 */
export function keepNotices(options: NoticesOptions) {
  const { ledger, redactor, dashboard, sendingOf, onError } = options;
  const { collectMs = COLLECT_MS, everyMs = EVERY_MS } = options;
  const delivery = openDelivery(options);
  const file = openNoticeFile(options.file);
  const alarms = new Alarms(onError);
  const closing = new AbortController();
  const ways = new Map<string, Sending>();
  /** The teams with a message on its way. */
  const sending = new Map<string, Promise<void>>();
  let stopListening = (): void => {};

  return {
    /** Goes on with what an earlier daemon left, and looks at all teams. */
    async start(): Promise<void> {
      stopListening = ledger.subscribe((teamId, { events }, state) => {
        if (!events.some((event) => NOTICE_NOUNS.includes(nounOf(event)))) return;
        try {
          look(state);
        } catch (error) {
          onError(error, teamId);
        }
      });
      const { isNew } = file;
      await ledger.viewAll((state) => look(state, { isNew }), { unreadable: () => undefined });
      await forgetDeleted();
      if (file.entries.size > 0 || !isNew) file.save();
      for (const teamId of file.entries.keys()) plan(teamId);
    },
    /** Looks at a team. Those that are open are looked at with each event. */
    look: (state: TeamState): void => look(state),
    /** Interrupts what is being sent; the next daemon sends it. */
    async close(): Promise<void> {
      stopListening();
      alarms.close();
      closing.abort();
      await Promise.allSettled(sending.values());
    },
  };

  /** Compares what a person should hear of with what was told. */
  function look(state: TeamState, { isNew = false } = {}): void {
    const { teamId } = state;
    const known = file.entries.get(teamId);
    const way = sendingOf(state);
    if (!way) return forget(teamId);
    ways.set(teamId, way);
    const { on } = way.settings;
    const entry = known ?? { told: {}, waiting: [], sentAt: 0 };
    const kept = entry.waiting.filter((notice) => stillHolds(notice, state));
    const notices = noticesOf(state);
    const news = notices.filter(
      (notice) => (on?.includes(notice.kind) ?? true) && entry.told[notice.subject] !== notice.version,
    );
    // Nobody wants to hear of teams that ended before notices were switched on.
    const old = isNew ? news.filter(({ requestId }) => requestId === undefined) : [];
    const waiting = news.filter((notice) => !old.includes(notice)).reduce(withNotice, kept);
    const told = { ...pruneTold(entry.told, state, notices), ...versionsOf(old) };
    const isOver = state.team?.status === 'cleaned-up' && waiting.length === 0 && !entry.sending;
    if (isOver ? !known : isSame(entry, { told, waiting })) return;
    if (isOver) file.entries.delete(teamId);
    else file.entries.set(teamId, { ...entry, told, waiting });
    file.save();
    if (kept.length === 0 && waiting.length > 0) plan(teamId);
  }

  function wayOf(teamId: string): Sending | undefined {
    return ways.get(teamId) ?? sendingOf(undefined);
  }

  /** Nobody wants its notices any more. */
  function forget(teamId: string): void {
    ways.delete(teamId);
    if (file.entries.delete(teamId)) file.save();
  }

  /** Teams may be deleted while no daemon runs. */
  async function forgetDeleted(): Promise<void> {
    const teams = new Set(await ledger.teams());
    for (const [teamId, entry] of file.entries) {
      if (!teams.has(teamId) && !entry.sending) file.entries.delete(teamId);
    }
  }

  function withNotice(waiting: Notice[], notice: Notice): Notice[] {
    const clean = { ...notice, text: redactor.text(notice.text) };
    const others = waiting.filter(({ subject }) => subject !== notice.subject);
    // One that only repeats itself keeps its place.
    return waiting.some(({ subject, version }) => subject === notice.subject && version === notice.version)
      ? waiting
      : [...others, clean];
  }

  /** Sets the alarm for the next message of a team. */
  function plan(teamId: string): void {
    const entry = file.entries.get(teamId);
    const way = wayOf(teamId);
    if (!entry || !way || closing.signal.aborted || sending.has(teamId)) return;
    if (entry.sending) return alarms.set(teamId, 'notice', 0, () => send(teamId));
    if (entry.waiting.length === 0) return;
    const now = Date.now();
    // A clock that was set back must not delay a notice.
    const at = Math.max(now + collectMs, Math.min(now, entry.sentAt) + everyMs);
    alarms.set(teamId, 'notice', quietUntil(way.settings.quietHours, at), () => send(teamId));
  }

  async function send(teamId: string): Promise<void> {
    const entry = file.entries.get(teamId);
    const way = wayOf(teamId);
    if (!entry || !way) return;
    if (!way.isSender()) return leaveToOther(teamId, entry);
    const now = Date.now();
    // Clocks are set, and a machine may sleep past an alarm.
    const quiet = quietUntil(way.settings.quietHours, now);
    if (quiet > now) return alarms.set(teamId, 'notice', quiet, () => send(teamId));
    if (way.isAllowed?.() === false) return alarms.set(teamId, 'notice', now + everyMs, () => send(teamId));
    const work = finish(way, teamId, entry.sending ? entry : begin(way, teamId, { entry, sentAt: now }));
    sending.set(teamId, work);
    try {
      await work;
    } finally {
      sending.delete(teamId);
      plan(teamId);
    }
  }

  /** Makes a message of everything that waits. It is stored before it is sent. */
  function begin(way: Sending, teamId: string, { entry, sentAt }: { entry: TeamNotices; sentAt: number }): TeamNotices {
    const { waiting } = entry;
    if (waiting.length === 0) return entry;
    const message = composeNotices(teamId, waiting, way.dashboard ?? dashboard(), (notice) =>
      way.linkTo?.(teamId, notice),
    );
    const told = { ...entry.told, ...versionsOf(waiting) };
    const begun = { told, waiting: [], sending: { message, left: channelsOf(way.settings) }, sentAt };
    file.entries.set(teamId, begun);
    file.save();
    return begun;
  }

  async function finish(way: Sending, teamId: string, { sending: message }: TeamNotices): Promise<void> {
    if (!message) return;
    await Promise.all(
      message.left.map(async (channel) => {
        // A channel that is no longer set gets nothing.
        const isOver =
          !channelsOf(way.settings).includes(channel) ||
          (await delivery.deliver({ ...way, channel }, message.message, closing.signal));
        if (isOver) settle(teamId, channel);
      }),
    );
  }

  /** A channel has the message, or never gets it. */
  function settle(teamId: string, channel: Channel): void {
    const entry = file.entries.get(teamId);
    if (!entry?.sending) return;
    const { sending: current, ...rest } = entry;
    const left = current.left.filter((other) => other !== channel);
    file.entries.set(teamId, left.length === 0 ? rest : { ...rest, sending: { ...current, left } });
    file.save();
  }

  /**
   * Another daemon tells it. What waits for a person is kept until it is answered: if the other daemon is lost, it is
   * told again from here.
   */
  function leaveToOther(teamId: string, entry: TeamNotices): void {
    const { sending: _other, waiting: all, ...rest } = entry;
    const waiting = all.filter(({ requestId }) => requestId !== undefined);
    const told = { ...rest.told, ...versionsOf(all.filter((notice) => !waiting.includes(notice))) };
    if (entry.sending || waiting.length < all.length) {
      file.entries.set(teamId, { ...rest, told, waiting });
      file.save();
    }
    if (waiting.length > 0) alarms.set(teamId, 'notice', Date.now() + everyMs, () => send(teamId));
  }
}

/** Sends notices until it is closed. */
export type Notices = ReturnType<typeof keepNotices>;

function versionsOf(notices: readonly Notice[]): Record<string, string> {
  return Object.fromEntries(notices.map(({ subject, version }) => [subject, version]));
}

/** Requests that are answered are never raised again. A warning that is over may come again. */
function pruneTold(
  told: Readonly<Record<string, string>>,
  { requests }: TeamState,
  notices: readonly Notice[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(told).filter(([subject]) => {
      if (subject.startsWith('request ')) return requests.get(subject.slice(8))?.status === 'pending';
      return !subject.startsWith(WARNING) || notices.some((notice) => notice.subject === subject);
    }),
  );
}

function isSame(before: TeamNotices, after: Pick<TeamNotices, 'told' | 'waiting'>): boolean {
  const { told, waiting } = before;
  return JSON.stringify([told, waiting]) === JSON.stringify([after.told, after.waiting]);
}
