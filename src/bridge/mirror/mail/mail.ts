import { SYSTEM } from '../../../core/actor.ts';
import type { TeamError } from '../../../core/errors.ts';
import { LINE_LENGTH } from '../../../core/limits.ts';
import { isVacant } from '../../../core/person.ts';
import type { TeamState } from '../../../core/state.ts';
import { oneLine } from '../../../core/text.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import { entryKeys } from '../../differences.ts';
import { textOfEntry } from '../../format.ts';
import type { Era, NativeEntry } from '../../format.ts';
import { takeEntries } from '../../inbox-file.ts';
import { NATIVE_LEAD } from '../../layout.ts';
import { readProtocol } from '../../protocol.ts';
import type { NativeTeam } from '../../snapshot.ts';
import { isSignedTo, nativeMemberName, seatOf } from '../marks.ts';
import { FROM_INBOX, uuidOf } from '../names.ts';
import type { Naming } from '../names.ts';
import { isBridged } from '../presence/signature.ts';
import type { Shared } from '../shared.ts';
import { isRefusal } from '../tasks/commands.ts';
import { openOutbox } from './outbox.ts';
import { answerOf, noteShutdowns, openShutdowns } from './requests.ts';

/** Protocol messages that are not for an agent to read. */
const NO_MAIL = new Set([
  'task_assignment',
  'mode_set_request',
  'team_permission_update',
  'permission_response',
  'plan_approval_response',
]);

/** Refusals that end: the recipient is started again, the sender has paused for long enough. */
const FOR_NOW: ReadonlySet<TeamError['code']> = new Set(['member_stopped', 'limit']);

/** Carries messages between the inboxes of a native team and ours. */
export interface MailMirror {
  /** Compares the inboxes that changed; with `all`, every inbox and our waiting messages too. */
  pass(team: NativeTeam, all: boolean): Promise<void>;
}

/** Starts with no entry seen. */
export function mirrorMail(shared: Shared): MailMirror {
  const { paths, naming, view, attempt } = shared;
  const outbox = openOutbox(shared);
  /** Names that a native member and one of ours share. */
  const told = new Set<string>();
  /** Entries that are done. */
  const seen = new Set<string>();
  /** The inboxes at the last look. */
  let received: ReadonlyMap<string, readonly NativeEntry[]> = new Map();
  /** Signatures of the native lead; each is valid for one entry. */
  const signatures = new Map<string, string>();

  /**
   * Carries out what one entry means here. If not done, an entry for one of our members stays in its inbox: because it
   * is refused, or because it has to wait, and with it what its sender wrote after it.
   */
  const take = async (to: string, key: string, entry: NativeEntry, toOurs: boolean): Promise<boolean | 'waits'> => {
    const text = textOfEntry(entry);
    const protocol = readProtocol(text);
    const { by, toId, leadId, answer, doubt, isVain } = await view((state) => {
      const id = naming.idOf(state, to);
      const member = id === undefined ? undefined : state.members.get(id);
      const isAnswer = protocol?.type === 'permission_response' || protocol?.type === 'plan_approval_response';
      return {
        by: senderOf(state, entry.from, naming),
        toId: id,
        leadId: state.team?.leadId ?? NATIVE_LEAD,
        answer: isAnswer && id !== undefined ? answerOf(state, id, protocol, shared.stream) : undefined,
        doubt: member && isSignedTo(member) ? whyDoubt(entry, key, signatures) : undefined,
        isVain: member !== undefined && isVacant(member),
      };
    });
    // The recipient may still become a member.
    if (toId === undefined) return 'waits';
    // The sender's first turn is not over: it must become a member first, or nobody could answer it.
    if (by === SYSTEM && shared.expected.has(entry.from)) {
      shared.spoken.add(entry.from);
      shared.meet();
      return 'waits';
    }
    // Where we lead, `hosted/lead-mail.ts` reads the members' protocol messages.
    if (naming.leads && protocol) return protocol.type === 'task_assignment';
    if (protocol?.type === 'idle_notification' && by !== SYSTEM) {
      const change = { type: 'member.change', by, memberId: by, status: 'idle', result: protocol.result } as const;
      return attempt(change, `idle notice of ${entry.from}`);
    }
    if (toOurs && protocol && entry.from === shared.leadName() && doubt !== undefined) {
      shared.report(`${protocol.type} to ${to}: ${doubt}, so nothing was done`);
      return true;
    }
    if (toOurs && answer && entry.from === shared.leadName()) return attempt(answer, `answer to ${to}`);
    if (toOurs && protocol?.type === 'shutdown_request' && entry.from === shared.leadName()) {
      const reason = oneLine(protocol.reason ?? '', LINE_LENGTH);
      const open = await view(openShutdowns);
      // In one step, because the answer needs the native id of the request.
      return attempt(
        [
          noteShutdowns({ ...open, [toId]: protocol.requestId.slice(0, 300) }),
          { type: 'shutdown.request', by: leadId, memberId: toId, reason },
        ],
        `shutdown of ${to}`,
      );
    }
    // The task itself names its owner, and protocol between native members is not mail.
    if (protocol && (!toOurs || NO_MAIL.has(protocol.type))) return true;
    const summary = entry.summary === undefined ? undefined : oneLine(entry.summary, LINE_LENGTH);
    const isStranger = by === SYSTEM;
    const about = isStranger ? 'who is not a member' : 'to the lead that this team does not have';
    const isPlain = !isStranger && !isVain;
    const command: NewCommand = {
      type: 'message.send',
      by: isPlain ? by : SYSTEM,
      messageId: `${FROM_INBOX}${key}`.slice(0, 128),
      messageType: isPlain ? 'direct' : 'system',
      toId,
      content: isPlain ? text : `From ${oneLine(entry.from, 100)}, ${about}:\n${text}`,
      ...(summary !== undefined && { summary }),
      priority: 'normal',
      metadata: { native: { from: entry.from.slice(0, 200), sentAt: entry.timestamp.slice(0, 100) } },
    };
    const what = `message from ${entry.from} to ${to}`;
    if (isStranger || !isVain) return store(command, what);
    // Its program has sent it already, so nobody refused it.
    const answered: NewCommand = {
      type: 'message.send',
      by: SYSTEM,
      messageId: `nobody-${key}`.slice(0, 128),
      messageType: 'system',
      toId: by,
      content:
        'This team has no lead, so nobody reads what you write to it. Write to another member, or ask your user.',
      priority: 'normal',
    };
    return store([command, answered], what);
  };

  /** Stores a message. If it may be accepted later, it waits. */
  const store = async (command: NewCommand | readonly NewCommand[], what: string): Promise<boolean | 'waits'> => {
    try {
      await shared.execute(command);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      shared.report(`${what}: ${error.message}`);
      return FOR_NOW.has(error.code) && 'waits';
    }
  };

  const receive = async (to: string, entries: readonly NativeEntry[], era: Era): Promise<void> => {
    const { mine, own } = await view((state) => {
      const id = naming.idOf(state, to);
      const ids = id === undefined ? [] : (state.index.inboxes.get(id)?.ids ?? []);
      return {
        mine: id !== undefined && state.members.has(id) && !naming.isNative(state, id),
        own: new Set(ids.filter((one) => !one.startsWith(FROM_INBOX)).map(uuidOf)),
      };
    });
    const taken = new Set<string>();
    const waiting = new Set<string>();
    for (const [key, entry] of entryKeys(entries)) {
      const mark = `${to}/${key}`;
      const isKnown = seen.has(mark) || entry.read === true || own.has(key) || entry['via'] === 'troupe';
      const outcome = !isKnown && !waiting.has(entry.from) && (await take(to, key, entry, mine));
      if (outcome === 'waits') waiting.add(entry.from);
      else if (outcome) seen.add(mark);
      if (mine && entry.read !== true && seen.has(mark)) taken.add(key);
    }
    if (taken.size === 0) return;
    const isTaken = (entry: NativeEntry): boolean => [...entryKeys([entry]).keys()].some((key) => taken.has(key));
    await takeEntries(paths.inbox(to), isTaken, { era, ...shared.times.files });
  };

  return {
    async pass(team, all) {
      const { inboxes, era } = team;
      const changed = [...inboxes].filter(([to, entries]) => all || received.get(to) !== entries);
      const strangers = await view((state) => namesakes(state, team));
      for (const name of naming.leads ? [] : strangers) {
        if (told.has(name)) continue;
        told.add(name);
        shared.report(
          `member ${name}: the native team has a member of that name now, which gets all messages to ${name} there. Ours gets none until one of them is renamed`,
        );
      }
      for (const [to, entries] of changed) {
        // This inbox belongs to the native member of that name.
        if (!naming.leads && strangers.has(to)) continue;
        await shared.step(`mail for ${to}`, () => receive(to, entries, era));
      }
      const isFewer = received.size > inboxes.size;
      // Members that we started get their messages from their own process, one turn after another.
      if (!naming.leads && (all || isFewer || changed.length > 0)) await outbox.pass(team);
      received = inboxes;
    },
  };
}

/** Why an entry may not come from a lead that signs. We don't know what a signature covers, only whether it is new. */
function whyDoubt(entry: NativeEntry, key: string, used: Map<string, string>): string | undefined {
  const signature = entry['lead_sig'];
  if (typeof signature !== 'string' || !/^[\w-]{86}$/.test(signature)) return 'it is not signed by the lead';
  if ((used.get(signature) ?? key) !== key) return 'its signature belongs to another message';
  used.set(signature, key);
  return undefined;
}

/**
 * Native members with the name of a member of ours that has no seat in their team: the name and the inbox are theirs.
 */
function namesakes(state: TeamState, { config }: NativeTeam): Set<string> {
  const theirs = config?.members.filter((member) => !isBridged(member)) ?? [];
  return new Set(
    theirs.flatMap(({ name }) => {
      const member = state.members.get(name);
      const isLead = name === state.team?.leadId;
      const isSame = !member || isLead || nativeMemberName(member) !== undefined || seatOf(member) !== undefined;
      return isSame || member.status === 'stopped' ? [] : [name];
    }),
  );
}

/** The live member with this native name. For anyone else Troupe is the sender. */
function senderOf(state: TeamState, from: string, naming: Naming): string {
  const id = naming.idOf(state, from);
  const member = id === undefined ? undefined : state.members.get(id);
  // An entry written by hand in the name of our member is not from that member.
  const isTheirs = member && naming.isNative(state, id);
  return isTheirs && member.status !== 'stopped' ? member.id : SYSTEM;
}
