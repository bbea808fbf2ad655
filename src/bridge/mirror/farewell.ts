import type { TeamState } from '../../core/state.ts';
import type { StoredTaskStatus } from '../../core/task.ts';
import { streamOf } from '../../core/view.ts';
import type { NativeConfig, NativeTask } from '../format.ts';
import type { NativeTeam } from '../snapshot.ts';
import { changeTaskFile } from '../task-file.ts';
import { isOurs } from './members.ts';
import type { MirrorParts } from './parts.ts';
import { markIn, withoutMark } from './signature.ts';
import type { Signature } from './signature.ts';
import { stampOf } from './task-form.ts';

/** Whether our side of it is over: closed, deleted, or another team has its name. The native one goes on without us. */
export function hasEnded(state: TeamState, stream: string): boolean {
  return isClosed(state) || (state.team !== undefined && streamOf(state.team) !== stream);
}

/** Whether there is no team any more that anything could be done in. */
export function isClosed({ team }: TeamState): boolean {
  return team === undefined || team.status === 'cleaned-up';
}

/** Whether a native team still shows that we keep it in step. */
export function isMarked(config: NativeConfig, signature: Signature): boolean {
  return markIn(config)?.home === signature.home || config.members.some((member) => isOurs(member, signature));
}

/**
 * When we part, what our members held in the native list is free again, or done if it was done, and our stamps go. What natives hold is
 * theirs: that they have stopped is true of our side only.
 */
export async function freeTasks(parts: MirrorParts, team: NativeTeam, signature: Signature): Promise<void> {
  const { ledger, teamId, paths, stream, step } = parts;
  const statuses = await ledger.view(teamId, ({ team: known, tasks }) =>
    // The tasks of another team of its name have the same numbers.
    known && streamOf(known) === stream ? new Map([...tasks].map(([id, { status }]) => [id, status])) : undefined,
  );
  const change = partingOf(team.config, signature, (file) => {
    const stamp = stampOf(file, stream);
    return stamp && { status: statuses?.get(stamp.id) };
  });
  for (const file of [...team.tasks.values()].filter((one) => change(one) !== undefined)) {
    await step(`task ${file.id}`, () =>
      changeTaskFile(paths, file.id, (now) => ({ answer: undefined, write: now && change(now) }), parts.times.files),
    );
  }
}

/** What a file is to say after we have parted; nothing where it says that already. `stampIn` finds what we left in a file. */
export function partingOf(
  config: NativeConfig | undefined,
  signature: Signature,
  stampIn: (file: NativeTask) => { readonly status: StoredTaskStatus | undefined } | undefined,
): (file: NativeTask) => NativeTask | undefined {
  const ours = new Set(config?.members.flatMap((member) => (isOurs(member, signature) ? [member.name] : [])));
  return (file) => {
    const stamp = stampIn(file);
    // One that failed stays as it is: its lead was told what to do about it.
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
