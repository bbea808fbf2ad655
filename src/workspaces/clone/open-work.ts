import type { DepotHandle } from '../depot/handle.ts';
import { isOnTip, listSaves } from '../depot/saves.ts';
import type { ObjectId, Save } from '../workspace.ts';

/** A ref of a workspace, and the save that it names. */
export interface SavesEnd {
  readonly ref: string;
  readonly commit: ObjectId;
}

/** The ends of saves behind which something is not on the tip. */
export async function findOpenWork(
  handle: DepotHandle,
  ends: readonly SavesEnd[],
  { tip, landed }: { tip: ObjectId; landed: readonly ObjectId[] },
): Promise<Save[]> {
  const found: Save[] = [];
  for (const { commit } of ends) {
    // What has a ref of its own is looked at by itself.
    const others = ends.flatMap((end) => (end.commit === commit ? [] : end.commit));
    const open = await findBehind(handle, commit, { tip, done: new Set([...landed, ...others]) });
    if (open && !found.some((save) => save.commit === open.commit)) found.push(open);
  }
  return found;
}

/** The last of some saves, if the last one of any base has something that is not on the tip. */
async function findBehind(
  handle: DepotHandle,
  from: ObjectId,
  { tip, done }: { tip: ObjectId; done: ReadonlySet<ObjectId> },
): Promise<Save | undefined> {
  const saves = await listSaves(handle, from);
  const carried = new Set(saves.map(({ carries }) => carries));
  const ends = saves.filter(({ commit, base }, i) => saves[i - 1]?.base !== base && !carried.has(commit));
  for (const end of ends) if (!done.has(end.commit) && !(await isOnTip(handle, end, tip))) return saves[0];
  return undefined;
}
