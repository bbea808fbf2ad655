import { TeamError } from '../../core/errors.ts';
import { isSlug } from '../../core/fields.ts';
import { quote } from '../../core/text.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { Diff, DiffFile } from '../../workspaces/depot/diff.ts';
import type { Hunk } from '../../workspaces/depot/patch.ts';
import { isWorkOf, listSaves, savesRef } from '../../workspaces/depot/saves.ts';
import { openRecent } from '../../workspaces/recent.ts';
import type { Recent } from '../../workspaces/recent.ts';
import { placeToCompare, sidesOf } from './compare.ts';
import type { Compared } from './compare.ts';
import type { TeamPlace } from './team-places.ts';
import type { TeamWorks } from './team-works.ts';

/** Where the work of a team is looked at. */
interface Desk {
  readonly ledger: Ledger;
  readonly works: TeamWorks;
  readonly teamId: string;
}

/** What to compare: two commits of the team, or a task, a member or (by default) the branch. */
export interface Asked {
  readonly of?: string | undefined;
  /** Of a member, its last save up to this time, in milliseconds; without it, its folder is saved now. */
  readonly before?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A part of the files that differ. */
export interface FilePage extends Compared {
  /** When the save was made that is shown, in milliseconds. */
  readonly savedAt?: number;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly changes: readonly DiffFile[];
  readonly next?: number;
}

/** Lines of a hunk, or of a part of one. */
export interface PagedHunk extends Pick<Hunk, 'oldStart' | 'newStart' | 'heading' | 'lines'> {
  /** Whether the page before ends with its first lines. */
  readonly isRest: boolean;
  /** The lines that are not whole, by their index, with their whole length. */
  readonly cut: readonly { readonly line: number; readonly length: number }[];
}

/** A part of the lines that differ in one file. */
export interface LinePage {
  readonly hunks: readonly PagedHunk[];
  /** How many lines all parts have together. */
  readonly lines: number;
  readonly next?: number;
  /** Why there are no lines. */
  readonly folded?: NonNullable<DiffFile['folded']>;
}

/** What one answer may hold, so that neither a socket nor a page waits for one. */
const PAGE = { files: 1_000, lines: 2_000, bytes: 256 * 1024, line: 4_096 };
/** Bytes of a file that is shown as a matter of course, of one that a person asks for, and of its patch. */
const FILE_BYTES = 512 * 1024;
const WHOLE_FILE_BYTES = 8 * 1024 * 1024;
const PATCH_BYTES = 20 * 1024 * 1024;

/** The commits of a comparison never change, so the parts of one answer come from one run of git. */
const lists = new WeakMap<Depot, Recent<Diff>>();
const texts = new WeakMap<Depot, Recent<Diff>>();

/** Lists the files that differ, with counts. */
export async function listChanges(desk: Desk, asked: Asked, after: number): Promise<FilePage> {
  const { ledger, works, teamId } = desk;
  const place = await placeToCompare(ledger, works, teamId);
  const sides = await compared(desk, place, asked);
  const { depot } = place;
  const diff = await recentOf(lists, depot, ({ files }) => files.length * 300).get(`${sides.from} ${sides.to}`, () =>
    depot.diff(sides.from, sides.to, { maxBytes: 0, maxFileBytes: FILE_BYTES }),
  );
  const changes = diff.files.slice(after, after + PAGE.files);
  const next = after + changes.length;
  return {
    ...sides,
    files: diff.files.length,
    added: diff.added,
    removed: diff.deleted,
    changes,
    ...(next < diff.files.length && { next }),
  };
}

/** Which file, and from which of its lines on. */
export interface AskedLines {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  /** The path before a rename. */
  readonly previous?: string | undefined;
  /** Also if the file is large or binary. */
  readonly whole: boolean;
  readonly after: number;
}

/** Reads the lines that differ in one file. */
export async function readLines({ ledger, works, teamId }: Desk, asked: AskedLines): Promise<LinePage> {
  const { from, to, path, previous, whole, after } = asked;
  const place = await placeToCompare(ledger, works, teamId);
  await requireCommits(place, teamId, [from, to]);
  const paths = [path, ...(previous === undefined ? [] : [previous])];
  // A name that is no UTF-8 cannot be an argument: then everything is compared.
  const named = paths.some((one) => one.startsWith('"')) ? {} : { paths };
  const options = {
    ...named,
    maxBytes: PATCH_BYTES,
    maxFileBytes: whole ? WHOLE_FILE_BYTES : FILE_BYTES,
    asText: whole,
  };
  const { files } = await recentOf(texts, place.depot, ({ text }) => text.length * 3).get(
    JSON.stringify([from, to, paths, whole]),
    () => place.depot.diff(from, to, options),
  );
  const { hunks = [], folded } = files.find((one) => one.path === path) ?? {};
  return { ...cutPage(hunks, after), ...(folded && { folded }) };
}

/** A part of the hunks, within the bounds of an answer. */
function cutPage(hunks: readonly Hunk[], after: number): LinePage {
  const found: PagedHunk[] = [];
  let [at, taken, bytes] = [0, 0, 0];
  const isFull = (): boolean => taken >= PAGE.lines || bytes >= PAGE.bytes;
  for (const { oldStart, newStart, heading, lines } of hunks) {
    const first = Math.max(0, after - at);
    at += lines.length;
    if (first >= lines.length || isFull()) continue;
    const before = lines.slice(0, first);
    const own: string[] = [];
    const cut: { line: number; length: number }[] = [];
    for (const line of lines.slice(first)) {
      if (isFull()) break;
      if (line.length > PAGE.line) cut.push({ line: own.length, length: line.length - 1 });
      own.push(cutLine(line));
      taken++;
      bytes += Math.min(line.length, PAGE.line) + 8;
    }
    found.push({
      oldStart: oldStart + before.filter((line) => /^[ -]/.test(line)).length,
      newStart: newStart + before.filter((line) => /^[ +]/.test(line)).length,
      heading: cutLine(heading),
      isRest: first > 0,
      lines: own,
      cut,
    });
  }
  const next = after + taken;
  return { hunks: found, lines: at, ...(next < at && { next }) };
}

/** The beginning of a long line; no half of a pair of surrogates. */
function cutLine(line: string): string {
  return line.length > PAGE.line ? line.slice(0, PAGE.line).replace(/[\ud800-\udbff]$/, '') : line;
}

async function compared(
  { ledger, works, teamId }: Desk,
  place: TeamPlace,
  { of, before, from, to }: Asked,
): Promise<Compared & { savedAt?: number }> {
  if (from !== undefined && to !== undefined) {
    // Work of another machine is here as its pack brought it.
    const here = await works.commitOf(teamId, to);
    await requireCommits(place, teamId, [from, here]);
    return { from, to: here, title: 'two commits' };
  }
  if (of === undefined || before === undefined) return sidesOf(ledger, works, { place, teamId, of });
  const ref = savesRef({ team: teamId, member: of });
  const [save] = !isSlug(of) ? [] : await listSaves(place.depot.handle, ref, 1, before);
  if (!save) throw new TeamError('not_found', `There is no save of ${quote(of)} up to that moment`);
  return { from: save.base, to: save.commit, title: `what ${of} had saved`, savedAt: save.at };
}

/** Only what the team itself made may be compared: the project may have other branches. */
async function requireCommits({ depot, work }: TeamPlace, teamId: string, ids: readonly string[]): Promise<void> {
  const { out } = await depot.handle.run(['rev-list', `${work.base}..${work.tip}`]);
  const branch = new Set([work.base, ...out.toString().split('\n')]);
  for (const id of ids) {
    if (branch.has(id) || (await isWorkOf(depot.handle, id, { team: teamId, branch }))) continue;
    throw new TeamError('not_found', `Team ${teamId} has no commit ${quote(id)}`);
  }
}

function recentOf(all: WeakMap<Depot, Recent<Diff>>, depot: Depot, weigh: (diff: Diff) => number): Recent<Diff> {
  const known = all.get(depot) ?? openRecent(RECENT_BYTES, weigh);
  all.set(depot, known);
  return known;
}

const RECENT_BYTES = 32 * 1024 * 1024;
