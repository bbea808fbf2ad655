import { findMarkers } from '../depot/diff.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { mergeCommits } from '../depot/merge.ts';
import { findRefused, isChecked } from '../depot/refused.ts';
import { splitZero } from '../git.ts';
import { toText } from '../paths.ts';
import type { Places } from '../places.ts';
import type { ObjectId, Problem, Saved } from '../workspace.ts';

/** Says what is wrong with a save before it is handed in. */
export async function reviewSave(
  handle: DepotHandle,
  { places, save, laid }: { readonly places: Places; readonly save: Saved; readonly laid?: Laid | undefined },
): Promise<Problem[]> {
  const [markers, refused, twins] = await Promise.all([
    findLeftMarkers(handle, save, laid),
    save.changes.some(({ path }) => isChecked(path)) ? findRefused(handle, places, [save.base, save.commit]) : [],
    save.changes.some(({ status }) => status === 'added') ? findTwins(handle, save) : [],
  ]);
  return [
    ...save.leftOut.map((one) => ({ kind: 'left-out', ...one }) as const),
    ...markers.map((one) => ({ kind: 'markers', ...one }) as const),
    ...refused.map(({ path, why }) => ({ kind: 'refused', path: toText(path), why }) as const),
    ...twins.map((paths) => ({ kind: 'case', paths }) as const),
  ];
}

/** The save whose work was merged into what the folder began from, and what that save began from. */
export interface Laid {
  readonly commit: ObjectId;
  readonly base: ObjectId;
}

/** Markers that are left of a conflict. Where one was laid into a file, `=======` alone is one, too. */
async function findLeftMarkers(
  handle: DepotHandle,
  { base, commit }: Saved,
  laid: Laid | undefined,
): Promise<{ path: string; line: number }[]> {
  const found = await findMarkers(handle, [base, commit]);
  const isUnclear = laid !== undefined && found.some(({ isUnderline }) => isUnderline);
  const conflicting = isUnclear ? await findLaid(handle, base, laid) : new Set();
  return found
    .filter(({ path, isUnderline }) => !isUnderline || conflicting.has(path))
    .map(({ path, line }) => ({ path, line }));
}

/** The files into which a conflict was laid, except those that have underlined headings on one of its sides. */
async function findLaid(handle: DepotHandle, tip: ObjectId, laid: Laid): Promise<Set<string>> {
  const { conflicts } = await mergeCommits(handle, [tip, laid.commit], { base: laid.base });
  const isUnderlined = async (id: ObjectId | undefined): Promise<boolean> =>
    id !== undefined && /^={7}\r?$/m.test((await handle.run(['cat-file', '-p', id])).out.toString('latin1'));
  const paths = conflicts.map(async ({ path, stages: { ours, theirs } }) =>
    (await isUnderlined(ours)) || (await isUnderlined(theirs)) ? [] : [path],
  );
  return new Set((await Promise.all(paths)).flat());
}

/** New names, of files or folders, that differ from another only in case. */
async function findTwins({ askLasting }: DepotHandle, { tree, base }: Saved): Promise<string[][]> {
  const [now, before] = await Promise.all([listNames(askLasting, tree), listNames(askLasting, base)]);
  const known = new Set(before);
  const groups = new Map<string, Set<string>>();
  for (const name of now) {
    const key = name.normalize('NFC').toLowerCase();
    groups.set(key, (groups.get(key) ?? new Set()).add(name));
  }
  const twins = [...groups.values()].filter((names) => names.size > 1 && [...names].some((name) => !known.has(name)));
  return twins.map((names) => [...names].sort());
}

/** All paths of a tree, with their folders. */
export async function listNames(ask: DepotHandle['run'], tree: ObjectId): Promise<string[]> {
  const { out } = await ask(['ls-tree', '-r', '-t', '-z', '--name-only', '--full-tree', tree]);
  return splitZero(out).map(toText);
}
