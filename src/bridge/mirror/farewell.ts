import type { TeamState } from '../../core/state.ts';
import { streamOf } from '../../core/view.ts';
import type { NativeConfig, NativeTask } from '../format.ts';
import type { NativeTeam } from '../snapshot.ts';
import { changeTaskFile } from '../task-file.ts';
import { isOurs } from './members.ts';
import type { MirrorParts } from './parts.ts';
import { markIn } from './signature.ts';
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
 * When our side is over, what our members held in the native list is free again, or done if it was done. What natives hold is theirs: that
 * they have stopped is true of our side only.
 */
export async function freeTasks(parts: MirrorParts, team: NativeTeam, signature: Signature): Promise<void> {
  const { ledger, teamId, paths, stream, step } = parts;
  const ours = new Set(team.config?.members.flatMap((member) => (isOurs(member, signature) ? [member.name] : [])));
  const isHeld = ({ owner, status }: NativeTask): boolean => status === 'in_progress' && ours.has(owner ?? '');
  for (const file of [...team.tasks.values()].filter(isHeld)) {
    const status = await ledger.view(teamId, (state) => state.tasks.get(stampOf(file, stream)?.id ?? '')?.status);
    // One that failed stays as it is: its lead was told what to do about it.
    if (status === 'failed') continue;
    await step(`task ${file.id}`, () =>
      changeTaskFile(paths, file.id, (now) => {
        if (!now || !isHeld(now)) return { answer: undefined };
        if (status === 'completed') return { answer: undefined, write: { ...now, status } };
        const { owner: _owner, ...free } = now;
        return { answer: undefined, write: { ...free, status: 'pending' } };
      }),
    );
  }
}
