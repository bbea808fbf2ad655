import type { DepotHandle } from '../depot/handle.ts';
import { isOnTip, listSaves } from '../depot/saves.ts';
import type { ObjectId, Save } from '../workspace.ts';

/** The last of some saves, if the last one of any base has something that is not on the tip. */
export async function findOpenWork(
  handle: DepotHandle,
  from: ObjectId,
  { tip, landed }: { tip: ObjectId; landed: ReadonlySet<ObjectId> },
): Promise<Save | undefined> {
  const saves = await listSaves(handle, from);
  const carried = new Set(saves.map(({ carries }) => carries));
  const ends = saves.filter(({ commit, base }, i) => saves[i - 1]?.base !== base && !carried.has(commit));
  for (const end of ends) if (!landed.has(end.commit) && !(await isOnTip(handle, end, tip))) return saves[0];
  return undefined;
}
