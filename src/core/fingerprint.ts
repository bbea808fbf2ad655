/** A text is told apart by its length and its beginning: hashing a megabyte would take longer than writing it. */
const LOOKED_AT = 4_096;

/**
 * What a command says, in a few letters: two that are sent under one id must be the same one. Left out is who and when, and
 * what the caller last saw or whether there are hooks: that moves between the first time and the second.
 */
export function fingerprintOf(command: Passing): string {
  const {
    at: _at,
    by: _by,
    commandId: _id,
    epoch: _epoch,
    revision: _revision,
    unjudged: _unjudged,
    ...said
  } = command;
  const text = JSON.stringify(said);
  let hash = 0x811c9dc5 ^ text.length;
  for (let i = 0; i < text.length && i < LOOKED_AT; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** A command, of which these are no part of what it says. */
interface Passing {
  readonly at?: number;
  readonly by?: string;
  readonly commandId?: string | undefined;
  readonly epoch?: number | undefined;
  readonly revision?: number | undefined;
  readonly unjudged?: boolean | undefined;
  readonly type: string;
}
