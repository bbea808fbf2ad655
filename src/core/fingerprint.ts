/** Of a text only its length and beginning count: hashing a megabyte would take longer than writing it. */
const LOOKED_AT = 4_096;

/**
 * A short fingerprint of a command, to check that two commands under one id are the same. It leaves out caller and
 * time, and also what the caller last saw, whether hooks judge or accept, and the work that Troupe hands in: these may change
 * between the first call and a retry.
 */
export function fingerprintOf(command: Passing): string {
  const {
    at: _at,
    by: _by,
    commandId: _id,
    epoch: _epoch,
    revision: _revision,
    unjudged: _unjudged,
    accepted: _accepted,
    work: _work,
    ...said
  } = command;
  const text = JSON.stringify(said);
  let hash = 0x811c9dc5 ^ text.length;
  for (let i = 0; i < text.length && i < LOOKED_AT; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** A command with the fields that the fingerprint leaves out. */
interface Passing {
  readonly at?: number;
  readonly by?: string;
  readonly commandId?: string | undefined;
  readonly epoch?: number | undefined;
  readonly revision?: number | string | undefined;
  readonly unjudged?: boolean | undefined;
  readonly accepted?: boolean | undefined;
  readonly work?: unknown;
  readonly type: string;
}
