import type { TeamMessage } from './message.ts';

/**
 * Tags that an agent takes for the voice of its user, its own program or another member. A text that contains one is
 * shown with its `<` written out, so that nothing a member writes can end its envelope or pose as another. What cannot be
 * seen (spaces, control characters, combining marks) does not hide one.
 */
const VOICES =
  /<(?=[\s\p{C}\p{M}]*\/?[\s\p{C}\p{M}]*(?:\w+:)?(?:teammate[-_]message|system|human|assistant|function_(?:calls|results)|tool_(?:use|result)|invoke)\b)/giu;

/** What an agent is shown of a message. */
type ShownMessage = Pick<TeamMessage, 'id' | 'fromId' | 'content' | 'type' | 'priority' | 'summary' | 'redeliveries'>;

/** A message as an agent is shown it: who sent it and what it says, kept apart by a boundary nobody could foresee. */
export function wrapMessage(message: ShownMessage, boundary: string): string {
  return wrapText(message.content, boundary, {
    teammate_id: message.fromId,
    message_id: message.id,
    type: message.type,
    priority: message.priority === 'urgent' ? 'urgent' : undefined,
    summary: message.summary,
    redelivery: message.redeliveries > 0 ? '1' : undefined,
  });
}

/** A text of somebody else's between tags that say whose it is. The boundary must be new and random each time. */
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

/** A text in which nothing looks like the voice of somebody with authority. */
export function escapeVoices(text: string): string {
  return text.replace(VOICES, '&lt;');
}

/** A text of somebody else's after the name of a field: its further lines are set in, so that none looks like a field of ours. */
export function indentText(text: string): string {
  return escapeVoices(text).replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, '\n  ');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeAttribute(value: string): string {
  return value.replace(/[&<>"]/g, (character) => ENTITIES[character] as string).replace(/\s+/g, ' ');
}
