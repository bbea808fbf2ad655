import { noteOn } from './address.ts';
import type { TeamMessage } from './message.ts';

/**
 * Tags that an agent takes for its user, its own program or another member. In a text that contains one, its `<` is
 * escaped. So a member's text cannot end its envelope or pose as another. Invisible characters (spaces, control
 * characters, combining marks) do not hide a tag.
 */
const VOICES =
  /<(?=[\s\p{C}\p{M}]*\/?[\s\p{C}\p{M}]*(?:\w+:)?(?:teammate[-_]message|system|human|assistant|function_(?:calls|results)|tool_(?:use|result)|invoke)\b)/giu;

/** The fields of a message that an agent sees. */
type ShownMessage = Pick<TeamMessage, 'id' | 'fromId' | 'content' | 'type' | 'priority' | 'summary' | 'redeliveries'>;

/** A message as an agent sees it: its sender and its text, inside an unpredictable boundary. */
export function wrapMessage(message: ShownMessage, boundary: string): string {
  return wrapText(message.content, boundary, {
    teammate_id: message.fromId,
    message_id: message.id,
    type: message.type,
    priority: message.priority === 'urgent' ? 'urgent' : undefined,
    summary: message.summary,
    note: noteOn(message.fromId),
    redelivery: message.redeliveries > 0 ? '1' : undefined,
  });
}

/** Foreign text between tags that name its author. The boundary must be new and random each time. */
export function wrapText(
  text: string,
  boundary: string,
  attributes: Readonly<Record<string, string | undefined>>,
): string {
  const said = Object.entries(attributes).map(([name, value]) =>
    value === undefined ? '' : ` ${name}="${escapeAttribute(value)}"`,
  );
  const mark = ` boundary="${boundary}"`;
  return `<teammate-message${said.join('')}${mark}>\n${escapeVoices(text)}\n</teammate-message${mark}>`;
}

/** A text in which nothing looks like the voice of an authority. */
export function escapeVoices(text: string): string {
  return text.replace(VOICES, '&lt;');
}

/** Foreign text after the name of a field: its further lines are indented, so that none looks like a field of ours. */
export function indentText(text: string): string {
  return escapeVoices(text).replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, '\n  ');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeAttribute(value: string): string {
  return value.replace(/[&<>"]/g, (character) => ENTITIES[character] as string).replace(/\s+/g, ' ');
}
