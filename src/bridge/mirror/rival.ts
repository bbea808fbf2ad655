import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { SharedTask } from '../../core/task.ts';
import type { NativeConfig } from '../format.ts';
import type { MirrorParts } from './parts.ts';
import { rivalOf, whyStandBack } from './signature.ts';
import type { Signature } from './signature.ts';

/** Two that keep one native team in step would undo each other's work: the one that came later waits until the other is gone. */
export interface Rivalry {
  /** Why nothing is kept in step, if another daemon does that. */
  readonly standsBack: string | undefined;
  /** Looks whose signature a native team has; says whether another daemon's, which runs. */
  giveWay(config: NativeConfig): boolean;
  /** Undoes a claim: what is taken here would be taken there by somebody else. */
  refuse(task: SharedTask): Promise<never>;
}

/** Begins to watch for another daemon. */
export function watchRival(parts: MirrorParts, signature: Signature): Rivalry {
  const { ledger, teamId, paths, naming, report } = parts;
  let standsBack: string | undefined;
  return {
    get standsBack() {
      return standsBack;
    },
    giveWay(config) {
      const rival = naming.leads ? undefined : rivalOf(config, signature);
      const why = rival && whyStandBack(paths.name, rival);
      if (why !== standsBack) {
        report(why ?? `the other daemon has left ${paths.name}, which is kept in step from here again`);
      }
      standsBack = why;
      return why !== undefined;
    },
    async refuse({ id: taskId, epoch }) {
      const reason = 'not kept in step';
      await ledger.execute(teamId, { type: 'task.release', by: SYSTEM, taskId, epoch, reason }, () => undefined);
      throw new TeamError('conflict', `Task ${taskId} cannot be taken here: ${standsBack}`);
    },
  };
}
