import { TeamError } from '../core/errors.ts';
import { quote } from '../core/text.ts';
import type { Operation } from './operation.ts';

/** A call, as a message requests it. */
interface Asked {
  readonly input: unknown;
  readonly as?: string | undefined;
}

/**
 * Reads a payload of the first design, which may name the speaker and contain fields with only one allowed value. The
 * speaker becomes `as`: the usual check decides whether the credential may act for it. Two different names are refused.
 */
export function readFirstDesign({ message }: Operation, { input, as }: Asked): Asked {
  if (!message || typeof input !== 'object' || input === null) return { input, as };
  const rest: Record<string, unknown> = { ...input };
  for (const [field, only] of Object.entries(message.settled ?? {})) {
    if (rest[field] !== undefined && rest[field] !== only) {
      throw new TeamError('not_allowed', `${field}: must be ${quote(only)}; only Troupe itself may send anything else`);
    }
    delete rest[field];
  }
  const { speaker: field } = message;
  const speaker = field === undefined ? undefined : rest[field];
  if (field === undefined || speaker === undefined) return { input: rest, as };
  delete rest[field];
  if (typeof speaker !== 'string') throw new TeamError('invalid', `${field}: must be the name of a member`);
  if (as !== undefined && as !== speaker) {
    throw new TeamError(
      'not_allowed',
      `as names ${quote(as)}, but ${field} names ${quote(speaker)}: a call acts for one member`,
    );
  }
  return { input: rest, as: speaker };
}
