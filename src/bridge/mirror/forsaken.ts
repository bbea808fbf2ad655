import { join } from 'node:path';
import { configOf } from '../config-file.ts';
import { hostMarkOf } from '../hosted/place.ts';
import { readNow } from '../json-file.ts';
import { isSafeName, nativePaths } from '../layout.ts';
import type { NativePaths } from '../layout.ts';
import { whyNotOwn } from '../root.ts';
import { listNative, readTeam } from '../snapshot.ts';
import { changeTaskFile } from '../task-file.ts';
import { isMarked, partingOf } from './farewell.ts';
import { withdrawMembers } from './members.ts';
import { markIn } from './signature.ts';
import type { Signature } from './signature.ts';

/**
 * The native teams that show our members though no team here is joined to them: it was deleted, and we were ended before they had left.
 * Those that we lead are looked after elsewhere.
 */
export function findForsaken(root: string, signature: Signature, joined: ReadonlySet<string>): NativePaths[] {
  // Where something leads elsewhere nothing was ever joined.
  if ([root, join(root, 'teams'), join(root, 'tasks')].some((path) => whyNotOwn(path) !== undefined)) return [];
  return listNative(root)
    .filter((name) => isSafeName(name) && !joined.has(name))
    .map((name) => nativePaths(root, name))
    .filter(({ config }) => {
      const found = configOf(readNow(config));
      return found.kind === 'read' && isMarked(found.config, signature) && !hostMarkOf(found.config);
    });
}

/** Takes our leave of one: nothing is known of its tasks but what their files say. */
export async function leaveForsaken(root: string, paths: NativePaths, signature: Signature): Promise<void> {
  const { config, tasks = new Map<never, never>() } = readTeam(root, paths.name).look() ?? {};
  if (!config) return;
  // Another daemon keeps it in step by now: the stamps are that one's.
  const isKeptByOther = ![undefined, signature.home].includes(markIn(config)?.home);
  const change = partingOf(config, signature, (file) =>
    !isKeptByOther && markIn(file) ? { status: undefined } : undefined,
  );
  for (const file of [...tasks.values()].filter((one) => change(one) !== undefined)) {
    await changeTaskFile(paths, file.id, (now) => ({ answer: undefined, write: now && change(now) }));
  }
  await withdrawMembers(paths, signature);
}
