import { createHash } from 'node:crypto';
import { TeamError } from '../../core/errors.ts';

/** The server keeps each stream in a folder of its name: 255 bytes, less what it adds. */
const LONGEST = 150;

/**
 * A team's name as one token of a subject and as part of a stream's name, where most characters mean something or are
 * forbidden: a-z, 0-9, `-` and `_` stay, any other byte becomes `=` and two digits. Capitals too, for file systems that
 * cannot tell them apart. A name that would get too long becomes its hash.
 */
export function encodeTeam(team: string): string {
  // Two names that differ in this would be one in UTF-8.
  if (!team.isWellFormed()) {
    throw new TeamError('invalid', `${JSON.stringify(team)} is no name for a team: it has half a character in it.`);
  }
  if (team === '') return '=';
  const encoded = team.replaceAll(/[^a-z0-9_-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return encoded.length <= LONGEST ? encoded : `~${createHash('sha256').update(team).digest('hex')}`;
}

/** The team's name again; undefined for a hash. */
export function decodeTeam(encoded: string): string | undefined {
  if (encoded.startsWith('~')) return undefined;
  if (encoded === '=') return '';
  return Buffer.from(
    encoded.replaceAll(/=([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  ).toString();
}

/** What one journal calls its things on a server, where other journals may be as well. */
export function namesOf(prefix: string) {
  return {
    /** The prefix has no `_`, so what follows the first one is the team. */
    stream: (encoded: string) => `${prefix}_${encoded}`,
    teamOf: (stream: string) => (stream.startsWith(`${prefix}_`) ? stream.slice(prefix.length + 1) : undefined),
    /** All batches of one team go to one subject. `life` is another one when the team is dropped and made anew. */
    subject: (encoded: string, life: string) => `${prefix}.team.${encoded}.${life}`,
    subjects: `${prefix}.team.>`,
    /** Rung when a team was made or dropped. */
    bell: (encoded: string) => `${prefix}.bell.${encoded}`,
    bells: `${prefix}.bell.*`,
    snapshots: `${prefix}-snapshots`,
    /** The cards of daemons, laid out as a key-value store is. */
    hosts: `KV_${prefix}-hosts`,
    host: (name: string) => `$KV.${prefix}-hosts.${name}`,
    /** Where one daemon is asked by the others. */
    door: (name: string) => `${prefix}.door.${name}`,
  };
}

export type Names = ReturnType<typeof namesOf>;
