import { CallError } from '../../../client/client.ts';
import { joinHunks } from '../../../client/hunks.ts';
import type { RecordedDiff, RecordedSides } from '../../../client/record.ts';
import type { TeamState } from '../../../client/replica.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Source } from './source.ts';

type Files = RecordedDiff['files'];
type Change = Files['changes'][number];
type Lines = RecordedDiff['lines'][string];

/** How much text the lines of all differences may have together, in characters. Compressed it is about a fifth. */
export const ALL_CHARS = 5_000_000;
/** How much the lines of one file may have. */
const FILE_CHARS = 300_000;
/** How many files of one difference are listed. */
const FILES = 5_000;

/** The differences of a team, and how many files are in them without their lines. */
export interface ReadDiffs {
  readonly diffs: readonly RecordedDiff[];
  readonly leftOut: number;
}

/** What lines may still take. The branch is first; then come tasks, the newest first. */
interface Room {
  chars: number;
  leftOut: number;
}

/** Reads what the branch, each task and each member changed. */
export async function readDiffs(source: Source, state: TeamState): Promise<ReadDiffs> {
  const found = new Map<string, { asked: RecordedSides[]; files: Files; lines: RecordedDiff['lines'] }>();
  const room: Room = { chars: ALL_CHARS, leftOut: 0 };
  const wanted = sidesOf(state);
  for (const [at, asked] of wanted.entries()) {
    source.tell(`reads difference ${at + 1} of ${wanted.length}`);
    const files = await readFiles(source, asked);
    if (!files) continue;
    const key = `${files.from} ${files.to}`;
    const same = found.get(key);
    if (same) same.asked.push(asked);
    else found.set(key, { asked: [asked], files, lines: await readLines(source, files, room) });
  }
  return { diffs: [...found.values()], leftOut: room.leftOut };
}

/** What a page of the team can ask for. */
function sidesOf({ team, tasks, members }: TeamState): RecordedSides[] {
  const work = team?.work;
  if (!work) return [];
  const ofTasks = [...tasks.values()].toReversed().flatMap(({ id, work }): RecordedSides[] => {
    if (!work || work.state === 'unchanged') return [];
    const isAsked = work.state === 'asked' && work.commit !== undefined;
    return isAsked ? [{ of: id }, { from: work.base, to: work.commit }] : [{ of: id }];
  });
  const ofMembers = [...members.values()].flatMap(({ id, workspace }) => (workspace === 'own' ? [{ of: id }] : []));
  return [...(work.base === work.tip ? [] : [{}]), ...ofTasks, ...ofMembers];
}

/** The files of a difference; undefined if it is not here, as when a folder is gone. */
async function readFiles(source: Source, asked: RecordedSides): Promise<Files | undefined> {
  try {
    const { next: first, ...head } = await source.read('work.files', asked);
    const changes = [...head.changes];
    const sides = { from: head.from, to: head.to };
    for (let next = first; next !== undefined && changes.length < FILES;) {
      const page: ResultOf<'work.files'> = await source.read('work.files', { ...sides, after: next });
      changes.push(...page.changes);
      ({ next } = page);
    }
    return { ...head, changes };
  } catch (error) {
    // A connection that breaks is no missing difference.
    if (error instanceof CallError && error.code !== 'no_daemon') return undefined;
    throw error;
  }
}

async function readLines(source: Source, { from, to, changes }: Files, room: Room): Promise<RecordedDiff['lines']> {
  const lines: [string, Lines][] = [];
  for (const change of changes) {
    const own = room.chars > 0 ? await readFileLines(source, { from, to }, change) : undefined;
    if (own) {
      room.chars -= sizeOf(own);
      lines.push([change.path, own]);
    } else room.leftOut++;
  }
  // Also for a file named `__proto__`.
  return Object.fromEntries(lines);
}

/** The lines of a file; undefined if they are too many for a record. */
async function readFileLines(
  source: Source,
  sides: { readonly from: string; readonly to: string },
  { path, previous }: Change,
): Promise<Lines | undefined> {
  const asked = { ...sides, path, ...(previous !== undefined && { previous }) };
  let whole: Lines | undefined;
  for (let after: number | undefined = 0; after !== undefined;) {
    const { next, ...page }: ResultOf<'work.lines'> = await source.read('work.lines', { ...asked, after });
    whole = whole ? { ...page, hunks: joinHunks(whole.hunks, page.hunks) } : page;
    if (sizeOf(whole) > FILE_CHARS) return undefined;
    after = next;
  }
  return whole;
}

function sizeOf({ hunks }: Lines): number {
  return hunks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length + 3, 60), 0);
}
