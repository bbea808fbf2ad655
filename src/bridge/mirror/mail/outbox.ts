import { lstatSync } from 'node:fs';
import { SYSTEM } from '../../../core/actor.ts';
import type { TeamMessage } from '../../../core/message.ts';
import type { TeamState } from '../../../core/state.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import { entryKeys } from '../../differences.ts';
import { TICK_MS } from '../../file-memory.ts';
import type { NativeEntry } from '../../format.ts';
import { appendEntry, readInbox } from '../../inbox-file.ts';
import type { InboxReading } from '../../inbox-file.ts';
import { identityOf, printOf } from '../../json-file.ts';
import { leadLives } from '../../leftovers.ts';
import { asPlainText } from '../../protocol.ts';
import type { NativeTeam } from '../../snapshot.ts';
import { FROM_INBOX, uuidOf, withNote } from '../names.ts';
import type { Shared } from '../shared.ts';

/** How often a message that was lost from a native inbox is written again; after that, people decide. */
const REWRITES = 3;

/** Back-off before another rewrite: a message that is lost at once is being overwritten right now. */
const REWRITE_MS = 5_000;

/** Our message to a native member, or one of theirs that we know. */
interface Due {
  readonly message: TeamMessage;
  /** The recipient's native name. */
  readonly name: string;
  readonly from: string;
  readonly color: string | undefined;
}

/** What happened to an entry that is no longer in its inbox. */
type Fate = 'read' | 'lost' | 'unknown';

/** Writes our messages into native inboxes, and distinguishes read entries from lost ones. */
export interface Outbox {
  /** Looks at everything that waits. */
  pass(team: NativeTeam): Promise<void>;
}

/** Starts with the messages in the journal. */
export function openOutbox(shared: Shared): Outbox {
  const { paths, view, attempt } = shared;
  /** This version of Claude Code has removed a delivered entry, so it always does. */
  let removes = false;
  /** The inodes of inboxes that we wrote, by name. */
  const ours = new Map<string, Set<bigint>>();
  /** Where native messages were seen. */
  const places = new Map<string, string>();
  const rewritten = new Map<string, number>();
  const told = new Set<string>();
  /** The last inbox that was read. */
  let looked: { readonly path: string; readonly print: string | undefined; readonly inbox: InboxReading } | undefined;

  const receipt = (type: 'message.deliver' | 'message.acknowledge', { id, toId }: TeamMessage, again = false) => {
    const about = { by: SYSTEM, memberId: toId, messageIds: [id] };
    const command: NewCommand =
      type === 'message.deliver'
        ? { type, ...about, sessionId: sessionIn(placeOf(paths.inboxes)), redelivery: again }
        : { type, ...about };
    return attempt(command, `message ${id}`);
  };

  /** Writes the entry first, then records the delivery. */
  const write = async ({ message, name, from, color }: Due, again = false): Promise<void> => {
    const wrote = (inode: bigint): void => {
      ours.set(name, new Set([...(ours.get(name) ?? []), inode].slice(-KEPT_INODES)));
    };
    await appendEntry(paths, name, entryOf(message, from, color), { wrote, ...shared.times.files });
    await receipt('message.deliver', message, again);
  };

  /** An inbox as it is now. Cached while it does not change, since many messages may need the same one. */
  const lookInto = async (name: string): Promise<InboxReading> => {
    const path = paths.inbox(name);
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    const print = found && printOf(found);
    if (print !== undefined && looked?.path === path && looked.print === print) return looked.inbox;
    // A second write within the same tick might not be visible.
    const isSettled = found !== undefined && Date.now() - Number(found.mtimeMs) > TICK_MS;
    const inbox = await readInbox(path, shared.times.files);
    looked = isSettled ? { path, print, inbox } : undefined;
    return inbox;
  };

  /** Reads the file itself: the snapshot may be older than our own write. */
  const fateOf = async (team: NativeTeam, { message, name }: Due, key: string): Promise<Fate> => {
    const place = placeOf(paths.inboxes);
    const before = inodeOf(paths.inbox(name));
    const inbox = await lookInto(name);
    if (inbox.kind !== 'read' || place !== placeOf(paths.inboxes)) return 'unknown';
    const entry = entryKeys(inbox.entries).get(key);
    if (entry) return entry.read === true ? 'read' : 'unknown';
    const member = team.config?.members.find((one) => one.name === name);
    // A process that is gone has read nothing. The message is written again when there is a new one.
    if (member?.backendType !== 'tmux' && leadLives(team) === false) return 'unknown';
    const known = message.id.startsWith(FROM_INBOX) ? (places.get(message.id) ?? place) : message.sessionId;
    const isSamePlace = known === place || known === sessionIn(place);
    if (before === undefined || !isSamePlace) return 'lost';
    return removes || isReplaced(name, before, inbox.entries) ? 'read' : 'lost';
  };

  /** Only versions that remove delivered entries replace the file; the oldest writes it in place. */
  const isReplaced = (name: string, inode: bigint, entries: readonly NativeEntry[]): boolean => {
    const known = ours.get(name);
    return known !== undefined && !known.has(inode) && !entries.some((entry) => entry.read === true);
  };

  const handle = async (team: NativeTeam, due: Due): Promise<void> => {
    const { message, name } = due;
    const isImported = message.id.startsWith(FROM_INBOX);
    const key = isImported ? message.id.slice(FROM_INBOX.length) : uuidOf(message.id);
    const entry = entryKeys(team.inboxes.get(name) ?? []).get(key);
    if (entry && entry.read !== true) {
      // The reader removes it. A member of ours that sits down under this name meanwhile gets it as new.
      if (isImported) places.set(message.id, placeOf(paths.inboxes));
      else if (!message.deliveredAt) await receipt('message.deliver', message);
      return;
    }
    if (!isImported && !message.deliveredAt) return write(due);
    const fate = await fateOf(team, due, key);
    if (fate === 'read') {
      if (!message.deliveredAt) await receipt('message.deliver', message);
      await receipt('message.acknowledge', message);
      return;
    }
    // A lost native message is for its sender to repeat.
    if (fate === 'unknown' || isImported) return;
    if (message.redeliveries >= REWRITES) {
      if (told.has(message.id)) return;
      told.add(message.id);
      shared.report(
        `message ${message.id} to ${name} was lost ${REWRITES + 1} times from ${paths.inbox(name)} before it was read, and is not written again: send it again`,
      );
      return;
    }
    if (performance.now() - (rewritten.get(message.id) ?? -Infinity) < REWRITE_MS) return;
    rewritten.set(message.id, performance.now());
    shared.report(`a message to ${name} was gone from ${paths.inbox(name)} unread, and was written again`);
    await write(due, true);
  };

  return {
    async pass(team) {
      removes ||= team.era === 'removes-read';
      const due = await view((state) => dueIn(state, shared));
      for (const [name, list] of Map.groupBy(due, (one) => one.name)) {
        await shared.step(`mail to ${name}`, async () => {
          for (const one of list) await handle(team, one);
        });
      }
      if (due.some(({ message }) => !message.deliveredAt)) shared.again();
    },
  };
}

const KEPT_INODES = 50;

function dueIn(state: TeamState, { naming, leadName }: Shared): Due[] {
  return [...state.members.values()].flatMap((member) => {
    const nativeName = member.id === state.team?.leadId ? leadName() : naming.nameOf(state, member.id);
    const name = naming.isNative(state, member.id) ? nativeName : undefined;
    const inbox = state.index.inboxes.get(member.id);
    if (name === undefined || !inbox || member.status === 'stopped') return [];
    return [...inbox.waiting].flatMap((id) => {
      const message = state.messages.get(id);
      if (!message) return [];
      const from = naming.nameOf(state, message.fromId);
      return [{ message, name, from, color: state.members.get(message.fromId)?.color }];
    });
  });
}

function entryOf(message: TeamMessage, from: string, color: string | undefined) {
  const { fromId, content, summary, sentAt } = message;
  return {
    from,
    text: asPlainText(withNote(fromId, content), from),
    summary,
    timestamp: sentAt.toISOString(),
    color,
    id: uuidOf(message.id),
  };
}

/**
 * The session that counts as having been shown these entries; a new one if the inboxes were removed and created again.
 */
function sessionIn(place: string): string {
  return `native-${place}`;
}

function placeOf(inboxes: string): string {
  return identityOf(inboxes) || 'none';
}

function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
