import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import { nameLost, readMark } from '../mark.ts';
import type { Ends, Lost } from '../mark.ts';
import { readNatsAddress } from './address.ts';
import { idAt } from './append.ts';
import { explaining } from './errors.ts';
import { openLink } from './link.ts';
import type { Link } from './link.ts';
import { decodeTeam } from './names.ts';
import { readSettings } from './settings.ts';
import { openSnapshots } from './snapshots.ts';
import { doubting, infoOf } from './streams.ts';

/** The last batch that was seen of a life, and its id if known. */
export type SeenEnd = readonly [seq: Seq, id?: string];

/** A person waits in front of a screen. */
const PATIENCE_MS = 5_000;

/**
 * Refuses servers that have less than the mark says, before anything is written. A new server at the address, or one
 * that lost its data, looks like a new journal. Returns what is left of the mark: without teams that were dropped.
 */
export async function requireMarked(link: Link, path: string): Promise<Ends<SeenEnd>> {
  const { kept, lost } = await compare(link, path);
  if (lost.length === 0) return kept;
  throw new TeamError(
    'corrupt',
    `The journal at ${link.place} has lost batches: ${nameLost(lost)}. Nothing is written until you decide: restore the ` +
      "servers' data from a copy, or continue with what is left: troupe journal accept",
  );
}

/** What the mark has and the servers have not. */
export async function findLostOnNats(url: string, { base, mark }: { base: string; mark: string }): Promise<Lost[]> {
  const link = await openLink(readNatsAddress(url, base), {
    patienceMs: PATIENCE_MS,
    closing: new AbortController().signal,
  });
  try {
    const { lost } = await explaining(link.place, 'look at the journal', () => compare(link, mark));
    return lost;
  } finally {
    await link.nc.close();
  }
}

async function compare(link: Link, path: string): Promise<{ kept: Ends<SeenEnd>; lost: Lost[] }> {
  const marked = [...readMark(path, link.place)].filter((entry): entry is [string, SeenEnd] => isEnd(entry[1]));
  const kept = new Map<string, SeenEnd>();
  const lost: Lost[] = [];
  if (marked.length === 0) return { kept, lost };
  const snapshots = (await readSettings(link)) && (await openSnapshots(link));
  await Promise.all(
    marked.map(async ([subject, end]) => {
      const now = await doubting(
        link,
        () => endOf(link, subject, end),
        (seq) => seq >= end[0],
      );
      if (now >= end[0]) kept.set(subject, end);
      else if (!(await snapshots?.isDropped(subject))) lost.push({ team: teamOf(subject), seq: end[0], now });
    }),
  );
  return { kept, lost };
}

/** How far a life has come; 0 if it is gone. A batch that another one replaced is lost as well. */
async function endOf(link: Link, subject: string, [seq, id]: SeenEnd): Promise<Seq> {
  const stream = link.names.stream(encodedIn(subject));
  const info = await infoOf(link, stream);
  if (info?.config.subjects[0] !== subject) return 0;
  const end = info.state.last_seq;
  const isReplaced = end >= seq && id !== undefined && (await idAt(link, { stream, subject }, seq)) !== id;
  return isReplaced ? seq - 1 : end;
}

function teamOf(subject: string): string {
  return decodeTeam(encodedIn(subject)) ?? subject;
}

/** The team's part of the subject of a life. */
export function encodedIn(subject: string): string {
  return subject.split('.').at(-2) ?? '~';
}

function isEnd(value: unknown): value is SeenEnd {
  if (!Array.isArray(value)) return false;
  const [seq, id] = value as unknown[];
  return Number.isInteger(seq) && (id === undefined || typeof id === 'string');
}
