import { join } from 'node:path';
import type { StoredTaskStatus } from '../../../core/task.ts';
import { streamOf } from '../../../core/view.ts';
import { configOf } from '../../config-file.ts';
import type { NativeConfig, NativeTask } from '../../format.ts';
import { hostMarkOf } from '../../hosted/place.ts';
import { readNow } from '../../json-file.ts';
import { isSafeName, nativePaths } from '../../layout.ts';
import type { NativePaths } from '../../layout.ts';
import { whyNotOwn } from '../../root.ts';
import { listNative, readTeam } from '../../snapshot.ts';
import type { NativeTeam } from '../../snapshot.ts';
import { changeTaskFile } from '../../task-file.ts';
import { withdrawMembers } from '../members.ts';
import type { Shared } from '../shared.ts';
import { stampOf } from '../tasks/form.ts';
import { isMarked, isOurs, markIn, withoutMark } from './signature.ts';
import type { Signature } from './signature.ts';

/**
 * When we leave, our members' tasks in the native list become free, or completed if they are, and our stamps are
 * removed. Tasks of native members stay: those members have stopped on our side only.
 */
export async function freeTasks(shared: Shared, team: NativeTeam, signature: Signature): Promise<void> {
  const { paths, stream, step, times, view } = shared;
  const statuses = await view(({ team: known, tasks }) =>
    // Another team of the same name numbers its tasks the same way.
    known && streamOf(known) === stream ? new Map([...tasks].map(([id, { status }]) => [id, status])) : undefined,
  );
  const edits = partingEdits(team, signature, (file) => {
    const stamp = stampOf(file, stream);
    return stamp && { status: statuses?.get(stamp.id) };
  });
  for (const { id, edit } of edits) {
    await step(`task ${id}`, () => changeTaskFile(paths, id, edit, times.files));
  }
}

/**
 * The native teams that list our members although no team here is joined to them. Our team was deleted, and the daemon
 * ended before the members left. `hosted/keeper.ts` handles the teams that we lead.
 */
export function findForsaken(root: string, signature: Signature, joined: ReadonlySet<string>): NativePaths[] {
  // We never join anything behind a link.
  if ([root, join(root, 'teams'), join(root, 'tasks')].some((path) => whyNotOwn(path) !== undefined)) return [];
  return listNative(root)
    .filter((name) => isSafeName(name) && !joined.has(name))
    .map((name) => nativePaths(root, name))
    .filter(({ config }) => {
      const found = configOf(readNow(config));
      return found.kind === 'read' && isMarked(found.config, signature) && !hostMarkOf(found.config);
    });
}

/** Leaves such a team. All we know about its tasks is what their files say. */
export async function leaveForsaken(root: string, paths: NativePaths, signature: Signature): Promise<void> {
  const team = readTeam(root, paths.name).look();
  if (!team?.config) return;
  // Another daemon synchronizes it now, so the stamps are that daemon's.
  const isKeptByOther = ![undefined, signature.home].includes(markIn(team.config)?.home);
  const edits = partingEdits(team, signature, (file) =>
    !isKeptByOther && markIn(file) ? { status: undefined } : undefined,
  );
  for (const { id, edit } of edits) await changeTaskFile(paths, id, edit);
  await withdrawMembers(paths, signature);
}

/** Finds our stamp in a file, and the task's status here if it is known. */
type StampIn = (file: NativeTask) => { readonly status: StoredTaskStatus | undefined } | undefined;

interface PartingEdit {
  readonly id: string;
  readonly edit: (now: NativeTask | undefined) => { answer: undefined; write: NativeTask | undefined };
}

/** The files that must change when we leave. Each is judged again under its lock. */
function partingEdits({ config, tasks }: NativeTeam, signature: Signature, stampIn: StampIn): PartingEdit[] {
  const change = partingOf(config, signature, stampIn);
  const edit: PartingEdit['edit'] = (now) => ({ answer: undefined, write: now && change(now) });
  return [...tasks.values()].flatMap((file) => (change(file) === undefined ? [] : [{ id: file.id, edit }]));
}

/** The content of a task file after we left; undefined if it needs no change. */
function partingOf(
  config: NativeConfig | undefined,
  signature: Signature,
  stampIn: StampIn,
): (file: NativeTask) => NativeTask | undefined {
  const ours = new Set(config?.members.flatMap((member) => (isOurs(member, signature) ? [member.name] : [])));
  return (file) => {
    const stamp = stampIn(file);
    // A failed task stays as it is: the lead was told what to do about it.
    if (stamp?.status === 'failed') return undefined;
    const isHeld = file.status === 'in_progress' && ours.has(file.owner ?? '');
    if (!stamp && !isHeld) return undefined;
    const bare = stamp ? withoutMark(file) : file;
    if (!isHeld) return bare;
    if (stamp?.status === 'completed') return { ...bare, status: stamp.status };
    const { owner: _owner, ...free } = bare;
    return { ...free, status: 'pending' };
  };
}
