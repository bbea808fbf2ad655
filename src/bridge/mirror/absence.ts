import { lstatSync } from 'node:fs';
import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import type { NativeConfig } from '../format.ts';
import { removeRemains } from '../remains.ts';
import type { Naming } from './names.ts';
import type { MirrorParts } from './parts.ts';

/** What a team of ours keeps about the native one. */
const Mark = z.looseObject({
  name: z.string(),
  /** Tells it from another one of its name. */
  session: z.string().optional(),
  /** Our members were told that it is gone. */
  gone: z.boolean().optional(),
  /** When we parted from it; kept when it is joined again. */
  leftAt: z.string().optional(),
});

export type NativeMark = z.output<typeof Mark>;

/** Notices when the native team goes, comes back, or gives way to another one of its name. */
export interface Absence {
  /** Another one has its name now. */
  readonly isReplaced: boolean;
  /** It is not there. After a while its members count as gone, and ours are told. */
  away(): Promise<void>;
  /** It is there; says whether it is the one that was joined. */
  back(config: NativeConfig): Promise<boolean>;
}

/** Begins to watch for it. */
export function watchAbsence(parts: MirrorParts): Absence {
  const { ledger, teamId, paths } = parts;
  let since: number | undefined;
  let isTold = false;
  let list = '';
  let isReplaced = false;
  const view = <R>(pick: (state: TeamState) => R): Promise<R> => ledger.view(teamId, pick);
  const execute = (commands: readonly NewCommand[]): Promise<void> => ledger.execute(teamId, commands, () => undefined);

  return {
    get isReplaced() {
      return isReplaced;
    },
    async away() {
      // One that we lead ourselves goes and comes with our own team.
      if (parts.naming.leads) return;
      removeRemains(paths);
      since ??= performance.now();
      if (isTold || performance.now() - since < parts.times.grace) return;
      isTold = true;
      parts.report(
        `the native team ${paths.name} is gone; it is taken up again if it comes back. "troupe native leave ${teamId}" keeps what is here without it`,
      );
      const commands = await view((state) => (isOver(state) ? [] : parting(state, paths.name, parts.naming)));
      if (commands.length > 0) await execute(commands);
    },
    async back(config) {
      if (parts.naming.leads) return true;
      const mark = await view(markOf);
      const session = sessionOf(config);
      const now = identityOf(paths.tasks);
      isReplaced =
        (mark?.session !== undefined && session !== undefined && mark.session !== session) ||
        // Deleted and made again in one session: the numbers of its tasks begin anew, and stand for others.
        (since !== undefined && list !== '' && now !== '' && list !== now);
      if (isReplaced) {
        parts.report(
          `another native team goes by the name ${paths.name} now; "troupe native leave ${teamId}", then "troupe join ${paths.name} --as NAME" joins that one`,
        );
        return false;
      }
      if (mark && ((mark.session === undefined && session !== undefined) || mark.gone)) {
        const { gone: _gone, ...known } = mark;
        const native = { ...known, ...(session !== undefined && { session }) };
        await execute([{ type: 'team.update', by: SYSTEM, metadata: { native } }]);
      }
      if (isTold) parts.report(`the native team ${paths.name} is back`);
      since = undefined;
      isTold = false;
      list = now || list;
      return true;
    },
  };
}

/** What tells a native team from another one of its name. */
export function sessionOf(config: NativeConfig): string | undefined {
  return config.leadSessionId ?? (config.createdAt === undefined ? undefined : String(config.createdAt));
}

/** Their members stop, so that what they held can be taken; ours hear of it. */
function parting(state: TeamState, name: string, naming: Naming): NewCommand[] {
  const live = [...state.members.values()].filter(
    ({ id, status }) => status !== 'stopped' && id !== state.team?.leadId,
  );
  const theirs = live.filter(({ id }) => naming.isNative(state, id));
  const ours = live.filter(({ id }) => !naming.isNative(state, id));
  const content =
    `Claude Code's team ${name} is gone: its lead ended it, or its files were removed. What you hold stays yours; what you write to ` +
    `its members reaches nobody for now. Should it come back, everything goes on by itself.`;
  return [
    { type: 'team.update', by: SYSTEM, metadata: { native: { ...markOf(state), name, gone: true } } },
    ...theirs.map(({ id }) => ({
      type: 'member.leave' as const,
      by: SYSTEM,
      memberId: id,
      reason: 'the native team is gone',
      returning: false,
    })),
    ...ours.map(({ id }) => ({
      type: 'message.send' as const,
      by: SYSTEM,
      messageId: crypto.randomUUID(),
      messageType: 'system' as const,
      toId: id,
      content,
      priority: 'normal' as const,
    })),
  ];
}

/** What a team of ours knows of the native one that it is joined to, or was. */
export function markOf(state: TeamState, key: 'native' | 'formerNative' = 'native'): NativeMark | undefined {
  return Mark.safeParse(state.team?.metadata?.[key]).data;
}

/** All has been said, or nobody is left to hear it. */
function isOver(state: TeamState): boolean {
  return markOf(state)?.gone === true || state.team?.status !== 'active';
}

/** A directory that was removed and made again is another one. */
function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino}-${found.birthtimeNs}` : '';
}
