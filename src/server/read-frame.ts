import { TeamError } from '../core/errors.ts';
import { isTooDeep } from '../core/json.ts';
import type { RequestFrame } from '../operations/frames.ts';
import type { Cursor, Operation } from '../operations/operation.ts';
import { writeMoments } from './moments.ts';

/** Why a text is not a frame, with the sender's id for it if that could be read. */
export class UnreadableFrame {
  readonly error: TeamError;
  readonly id: RequestFrame['id'];

  constructor(why: string, id?: RequestFrame['id']) {
    this.error = new TeamError('invalid', why);
    this.id = id;
  }
}

/** Reads a frame, or says why the text is none. Checked by hand instead of by a schema: every call passes here. */
export function readFrame(text: string): RequestFrame | UnreadableFrame {
  if (isTooDeep(text)) return new UnreadableFrame('The frame is nested too deeply');
  const value = parseJson(text);
  if (value === undefined) return new UnreadableFrame('A frame is one JSON object');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new UnreadableFrame('A frame is a JSON object with a type');
  }
  const { type, id, as, commandId } = value as Record<string, unknown>;
  if (!isId(id)) return new UnreadableFrame('id: a text of at most 128 characters or a whole number is expected');
  if (typeof type !== 'string' || type.length > 64) return new UnreadableFrame('type: a short text is expected', id);
  if (as !== undefined && typeof as !== 'string') return new UnreadableFrame('as: a text is expected', id);
  if (commandId !== undefined && typeof commandId !== 'string') {
    return new UnreadableFrame('commandId: a text is expected', id);
  }
  return value as RequestFrame;
}

function isId(id: unknown): id is RequestFrame['id'] {
  return id === undefined || (typeof id === 'string' && id.length <= 128) || Number.isSafeInteger(id);
}

/** The id of the call to cancel: in the payload, for clients that number every frame, or else the frame's own. */
export function cancelledId({ id, payload }: RequestFrame): RequestFrame['id'] {
  return (payload as { id?: RequestFrame['id'] } | null | undefined)?.id ?? id;
}

/** A refusal as a frame. */
export function errorFrame(id: RequestFrame['id'], { code, message, facts }: TeamError): string {
  return JSON.stringify({ type: 'error', id, error: { code, message, facts } });
}

/** An answer as a frame: `result` for a call by name, the operation's own message for a call by message type. */
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
