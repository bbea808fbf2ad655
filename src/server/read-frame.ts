import { TeamError } from '../core/errors.ts';
import type { RequestFrame } from '../operations/frames.ts';
import type { Cursor, Operation } from '../operations/operation.ts';
import { writeMoments } from './moments.ts';

/** The frame that a text holds, or the error that says why it is none. Checked by hand: every call passes here. */
export function readFrame(text: string): RequestFrame | TeamError {
  const value = parseJson(text);
  if (value === undefined) return new TeamError('invalid', 'A frame is one JSON object');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new TeamError('invalid', 'A frame is a JSON object with a type');
  }
  const { type, id, as, commandId } = value as Record<string, unknown>;
  if (typeof type !== 'string' || type.length > 64) return new TeamError('invalid', 'type: a short text is expected');
  const isId = id === undefined || (typeof id === 'string' && id.length <= 128) || Number.isSafeInteger(id);
  if (!isId) return new TeamError('invalid', 'id: a text of at most 128 characters or a whole number is expected');
  if (as !== undefined && typeof as !== 'string') return new TeamError('invalid', 'as: a text is expected');
  if (commandId !== undefined && typeof commandId !== 'string') {
    return new TeamError('invalid', 'commandId: a text is expected');
  }
  return value as RequestFrame;
}

/** The frame that refuses. */
export function errorFrame(id: RequestFrame['id'], { code, message }: TeamError): string {
  return JSON.stringify({ type: 'error', id, error: { code, message } });
}

/** The frame that answers: `result` to a call by name, the operation's own message to a call by message type. */
export function resultFrame(
  operation: Operation | undefined,
  type: string,
  id: RequestFrame['id'],
  result: unknown,
  after?: Cursor,
): string {
  const more = after === undefined ? undefined : { more: true, after };
  if (operation?.message?.type !== type) {
    return JSON.stringify({ type: 'result', id, ...more, result: writeMoments(result) });
  }
  return JSON.stringify({ type: operation.message.answer, id, ...more, ...operation.message.fields(result) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
