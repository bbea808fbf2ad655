import { createHash } from 'node:crypto';
import type { MessageJson, Mode, Turn } from '../../agents/agent.ts';
import { escapeVoices } from '../../core/envelope.ts';
import { LINE_LENGTH } from '../../core/limits.ts';
import { oneLine } from '../../core/text.ts';
import type { NewEntry } from '../inbox-file.ts';
import { NATIVE_LEAD } from '../layout.ts';
import { FROM_INBOX, uuidOf } from '../mirror/names.ts';
import { asPlainText } from '../protocol.ts';
import { permissionMode } from './arguments.ts';

/** A plan that the program handed in and that waits for its answer. */
export interface OpenPlan {
  readonly requestId: string;
  readonly content: string;
}

/** What is written into a member's inbox for one turn. */
export interface Letters {
  readonly entries: readonly NewEntry[];
  /** What the program will put before its model, by which the turn is known again. */
  readonly texts: readonly string[];
  /** Keys of what others wrote there themselves and is told with this. */
  readonly covered: readonly string[];
}

/** What else goes with a turn. */
export interface LetterOptions {
  readonly leadId: string;
  /** Told with the first turn of a conversation, and after it was shortened. */
  readonly role: string | undefined;
  readonly plan: OpenPlan | undefined;
  /** The plan was approved, and this is what it may do from now on. */
  readonly approved: Mode | undefined;
}

/**
 * A turn as its lead would write it. Mail alone is written as the program itself would have it, one entry a message in the name of
 * its sender; with a task, feedback or a digest it is one text.
 */
export function writeLetters(turn: Turn, { leadId, role, plan, approved }: LetterOptions): Letters {
  const native = turn.messages.filter(({ id }) => id.startsWith(FROM_INBOX));
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

/** What the program takes for protocol, in the name of its lead. */
export function protocolLetter(protocol: { readonly type: string } & Readonly<Record<string, unknown>>): NewEntry {
  const timestamp = new Date().toISOString();
  const text = JSON.stringify({ ...protocol, timestamp });
  return { from: NATIVE_LEAD, text, timestamp, id: crypto.randomUUID() };
}

function leadLetter(text: string): NewEntry {
  const id = crypto.randomUUID();
  return { from: NATIVE_LEAD, text: asPlainText(text, 'your lead'), timestamp: new Date().toISOString(), id };
}

/** The program wraps it without escaping: what would end its envelope, or pose as another's, is written out. */
function letterOf({ id, fromId, content, summary }: MessageJson, leadId: string): NewEntry {
  const from = fromId === leadId ? NATIVE_LEAD : fromId.replace('@', '');
  return {
    from,
    text: asPlainText(escapeVoices(content), from),
    ...(summary !== undefined && { summary: oneLine(escapeVoices(summary).replaceAll('"', "'"), LINE_LENGTH) }),
    timestamp: new Date().toISOString(),
    id: uuidOf(id),
  };
}
