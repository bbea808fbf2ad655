import { createHash } from 'node:crypto';
import type { MessageJson, Mode, Turn } from '../../agents/agent.ts';
import { escapeVoices } from '../../core/envelope.ts';
import { LINE_LENGTH } from '../../core/limits.ts';
import { oneLine } from '../../core/text.ts';
import type { NewEntry } from '../inbox-file.ts';
import { NATIVE_LEAD } from '../layout.ts';
import { FROM_INBOX, nativeName, uuidOf, withNote } from '../mirror/names.ts';
import { asPlainText } from '../protocol.ts';
import { permissionMode } from './arguments.ts';

/** A plan that the program submitted and that waits for an answer. */
export interface OpenPlan {
  readonly requestId: string;
  readonly content: string;
}

/** The inbox entries for one turn. */
export interface Letters {
  readonly entries: readonly NewEntry[];
  /** The texts that the program will show its model; the turn is recognized by them. */
  readonly texts: readonly string[];
  /** Keys of entries by other writers that these letters repeat. */
  readonly covered: readonly string[];
}

/** What else belongs to a turn. */
export interface LetterOptions {
  readonly leadId: string;
  /** A lead is alone in its native team: what native teammates write is not in its inbox yet. */
  readonly leads: boolean;
  /** Sent with the first turn of a conversation, and after a compaction. */
  readonly role: string | undefined;
  readonly plan: OpenPlan | undefined;
  /** The plan was approved, and this is the mode from now on. */
  readonly approved: Mode | undefined;
}

/**
 * A turn as its lead would write it. A turn of messages only becomes one entry per message, in the sender's name, as
 * Claude Code does it. With a task, feedback or a digest it becomes one text.
 */
export function writeLetters(turn: Turn, { leadId, leads, role, plan, approved }: LetterOptions): Letters {
  const native = leads ? [] : turn.messages.filter(({ id }) => id.startsWith(FROM_INBOX));
  const others = turn.messages.filter((message) => !native.includes(message));
  const isMail =
    turn.messages.length > 0 && !turn.task && turn.feedback === undefined && !turn.digest && !turn.plan && !approved;
  const covered = native.map(({ id }) => id.slice(FROM_INBOX.length));
  const mail = others.map((message) => letterOf(message, leadId));
  if (plan && turn.plan && turn.feedback !== undefined) {
    const answer = protocolLetter({
      type: 'plan_approval_response',
      requestId: plan.requestId,
      approved: false,
      feedback: escapeVoices(turn.feedback),
    });
    return { entries: [answer, ...mail], texts: [escapeVoices(turn.feedback)], covered: [] };
  }
  if (isMail && !turn.messages.some(({ redeliveries }) => redeliveries > 0)) {
    const beforehand = role === undefined || mail.length === 0 ? [] : [leadLetter(role)];
    const own = native.map(({ content }) => content);
    return { entries: [...beforehand, ...mail], texts: [...mail.map(({ text }) => text), ...own], covered: [] };
  }
  const yes =
    plan && approved
      ? [
          protocolLetter({
            type: 'plan_approval_response',
            requestId: plan.requestId,
            approved: true,
            permissionMode: permissionMode(approved),
            planDigest: createHash('sha256').update(plan.content).digest('hex'),
          }),
        ]
      : [];
  const said = leadLetter([role, turn.text].filter(Boolean).join('\n\n'));
  return { entries: [...yes, said], texts: [said.text], covered };
}

/** A protocol message in the lead's name. */
export function protocolLetter(protocol: { readonly type: string } & Readonly<Record<string, unknown>>): NewEntry {
  const timestamp = new Date().toISOString();
  const text = JSON.stringify({ ...protocol, timestamp });
  return { from: NATIVE_LEAD, text, timestamp, id: crypto.randomUUID() };
}

function leadLetter(text: string): NewEntry {
  const id = crypto.randomUUID();
  return { from: NATIVE_LEAD, text: asPlainText(text, 'your lead'), timestamp: new Date().toISOString(), id };
}

/**
 * Claude Code wraps a letter without escaping. So we escape text that would end the envelope or imitate another sender.
 */
function letterOf({ id, fromId, content, summary }: MessageJson, leadId: string): NewEntry {
  const from = fromId === leadId ? NATIVE_LEAD : nativeName(fromId);
  return {
    from,
    text: asPlainText(withNote(fromId, escapeVoices(content)), from),
    ...(summary !== undefined && { summary: oneLine(escapeVoices(summary).replaceAll('"', "'"), LINE_LENGTH) }),
    timestamp: new Date().toISOString(),
    id: uuidOf(id),
  };
}
