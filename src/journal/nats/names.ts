import { createHash } from 'node:crypto';
import { TeamError } from '../../core/errors.ts';

/** The server keeps each stream in a folder of its name: 255 bytes, minus what it adds. */
const LONGEST = 150;

/**
 * Encodes a team's name for use in a subject and in a stream's name, where most characters are special or forbidden.
 * a-z, 0-9, `-` and `_` stay; any other byte becomes `=` and two hex digits. Capitals too, because some file systems
 * ignore case. A name that would be too long becomes its hash.
 */
export function encodeTeam(team: string): string {
  // In UTF-8, names that differ only in a lone surrogate become the same.
  if (!team.isWellFormed()) {
    throw new TeamError('invalid', `${JSON.stringify(team)} is not a valid team name: it has half a character in it.`);
  }
  if (team === '') return '=';
  const encoded = team.replaceAll(/[^a-z0-9_-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return encoded.length <= LONGEST ? encoded : `~${createHash('sha256').update(team).digest('hex')}`;
}

/** Decodes a team's name; undefined for a hash. */
export function decodeTeam(encoded: string): string | undefined {
  if (encoded.startsWith('~')) return undefined;
  if (encoded === '=') return '';
  return Buffer.from(
    encoded.replaceAll(/=([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  ).toString();
}

/** The last word of a subject. */
export function lastWord(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** The names that one journal uses on a server that it may share with other journals. */
export function namesOf(prefix: string) {
  return {
    /** The prefix has no `_`, so what follows the first one is the team. */
    stream: (encoded: string) => `${prefix}_${encoded}`,
    teamOf: (stream: string) => (stream.startsWith(`${prefix}_`) ? stream.slice(prefix.length + 1) : undefined),
    /** All batches of one team go to one subject. A team that is dropped and created again gets another `life`. */
    subject: (encoded: string, life: string) => `${prefix}.team.${encoded}.${life}`,
    subjects: `${prefix}.team.>`,
    /** Rung when a team was created or dropped. */
    bell: (encoded: string) => `${prefix}.bell.${encoded}`,
    bells: `${prefix}.bell.*`,
    snapshots: `${prefix}-snapshots`,
    /** The work of members, on its way to other machines. */
    packs: `${prefix}-packs`,
    /** The cards of daemons, in the layout of a key-value store. */
    hosts: `KV_${prefix}-hosts`,
    host: (name: string) => `$KV.${prefix}-hosts.${name}`,
    /** The subject on which a daemon answers questions of others. */
    door: (name: string) => `${prefix}.door.${name}`,
  };
}

export type Names = ReturnType<typeof namesOf>;
