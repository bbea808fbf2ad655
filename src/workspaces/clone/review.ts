import { findMarkers } from '../depot/diff.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { findRefused, isChecked } from '../depot/refused.ts';
import { splitZero } from '../git.ts';
import { toText } from '../paths.ts';
import type { Places } from '../places.ts';
import type { ObjectId, Problem, Saved } from '../workspace.ts';

/** Says what is wrong with a save before it is handed in. */
export async function reviewSave(handle: DepotHandle, places: Places, save: Saved): Promise<Problem[]> {
  const [markers, refused, twins] = await Promise.all([
    findMarkers(handle, [save.base, save.commit]),
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
async function listNames(ask: DepotHandle['run'], tree: ObjectId): Promise<string[]> {
  const { out } = await ask(['ls-tree', '-r', '-t', '-z', '--name-only', '--full-tree', tree]);
  return splitZero(out).map(toText);
}
