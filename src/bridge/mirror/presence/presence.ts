import { SYSTEM } from '../../../core/actor.ts';
import type { MemberRecord, TeamState } from '../../../core/state.ts';
import { streamOf } from '../../../core/view.ts';
import type { NewCommand } from '../../../ledger/ledger.ts';
import type { NativeConfig } from '../../format.ts';
import { identityOf } from '../../json-file.ts';
import { removeRemains } from '../../remains.ts';
import type { NativeTeam } from '../../snapshot.ts';
import { isForSeats, leaving, markOf, nativeMemberName, seatOf } from '../marks.ts';
import type { Naming } from '../names.ts';
import type { Shared } from '../shared.ts';
import { watchRival } from './signature.ts';
import type { Rivalry, Signature } from './signature.ts';

/** Knows whether both sides exist, and whether this daemon is to synchronize them. */
export interface Presence extends Rivalry {
  /** Another native team has the name now. */
  readonly isReplaced: boolean;
  /**
   * The native team, if a pass may compare it. A pass may not if our team is over or another daemon synchronizes it.
   * Nor if the native team is missing, unreadable or another one of its name.
   */
  look(team: NativeTeam | undefined): Promise<PresentTeam | undefined>;
}

/** A native team that exists and is readable. */
export type PresentTeam = NativeTeam & { readonly config: NativeConfig };

/** Starts with an existing native team. Calls `onOver` when our side is over. */
export function watchPresence(shared: Shared, signature: Signature, onOver: () => void): Presence {
  const { teamId, paths, naming, times, view, execute, report } = shared;
  const rivalry = watchRival(shared, signature);
  /** Since when the native team is missing, by the monotonic clock. */
  let since: number | undefined;
  let isTold = false;
  let isReplaced = false;
  /** The identity of the directory of its tasks, when last seen. */
  let list = '';

  /** It may come back in a moment. First our seats end, later its own members, and ours are told. */
  const away = async (): Promise<void> => {
    since ??= performance.now();
    const passed = performance.now() - since;
    if (passed < times.gone) shared.again(times.gone);
    else await endSeats();
    // A native team that we lead comes and goes with our own team.
    if (naming.leads) return;
    removeRemains(paths);
    if (!isTold && passed >= times.grace) await tellGone();
  };

  const endSeats = async (): Promise<void> => {
    const { commands, isOver } = await view(endingOf);
    if (commands.length > 0) await execute(commands);
    if (isOver) onOver();
  };

  const tellGone = async (): Promise<void> => {
    isTold = true;
    report(
      `the native team ${paths.name} is gone; Troupe joins it again if it comes back. "troupe native leave ${teamId}" keeps the team here without it`,
    );
    const commands = await view((state) => (isSaid(state) ? [] : goneOf(state, paths.name, naming)));
    if (commands.length > 0) await execute(commands);
  };

  /** The native team exists: returns whether it is the one that was joined. */
  const back = async (config: NativeConfig): Promise<boolean> => {
    const mark = await view((state) => markOf(state));
    const session = sessionOf(config);
    const now = identityOf(paths.tasks);
    isReplaced =
      (mark?.session !== undefined && session !== undefined && mark.session !== session) ||
      // The team was deleted and created again in one session. Its tasks are numbered from 1 again, so a number means
      // another task.
      (since !== undefined && list !== '' && now !== '' && list !== now);
    if (isReplaced) {
      report(
        `another native team has the name ${paths.name} now; "troupe native leave ${teamId}", then "troupe join ${paths.name} --rename NAME" joins that one`,
      );
      return false;
    }
    if (mark && ((mark.session === undefined && session !== undefined) || mark.gone)) {
      const { gone: _gone, ...known } = mark;
      const native = { ...known, ...(session !== undefined && { session }) };
      await execute({ type: 'team.update', by: SYSTEM, metadata: { native } });
    }
    if (isTold) report(`the native team ${paths.name} is back`);
    isTold = false;
    list = now || list;
    return true;
  };

  return {
    get standsBack() {
      return rivalry.standsBack;
    },
    giveWay: (config) => rivalry.giveWay(config),
    refuse: (task) => rivalry.refuse(task),
    get isReplaced() {
      return isReplaced;
    },
    async look(team) {
      // A closed team refuses everything: every native change would be undone forever.
      if (!naming.leads && (await view((state) => hasEnded(state, shared.stream)))) {
        onOver();
        return undefined;
      }
      if (team === undefined || team.form === 'no-config') {
        await away();
        return undefined;
      }
      if (!isReadable(team)) {
        report(`${paths.name} cannot be read: ${[team.readOnly ?? [], team.problems].flat().join('; ')}`);
        return undefined;
      }
      if (!naming.leads && !(await back(team.config))) return undefined;
      since = undefined;
      return rivalry.giveWay(team.config) ? undefined : team;
    },
  };
}

/** Whether our side is over: closed, deleted, or replaced by another team of its name. The native team goes on. */
export function hasEnded(state: TeamState, stream: string): boolean {
  return isClosed(state) || (state.team !== undefined && streamOf(state.team) !== stream);
}

/** Whether the team does not exist or is closed. */
export function isClosed({ team }: TeamState): boolean {
  return team === undefined || team.status === 'cleaned-up';
}

/** Tells a native team from another of its name. */
export function sessionOf(config: NativeConfig): string | undefined {
  return config.leadSessionId ?? (config.createdAt === undefined ? undefined : String(config.createdAt));
}

function isReadable(team: NativeTeam): team is PresentTeam {
  return team.config !== undefined;
}

/** When a native team ends, its seated members end too, and so does a team that exists only for them. */
function endingOf(state: TeamState): { commands: NewCommand[]; isOver: boolean } {
  const here = liveTeammates(state);
  const seated = here.filter((member) => seatOf(member) !== undefined);
  const others = here.filter((member) => seatOf(member) === undefined && nativeMemberName(member) === undefined);
  const isOver = isForSeats(state) && others.length === 0 && state.team?.status === 'active';
  if (isOver) return { commands: [{ type: 'team.close', by: SYSTEM, force: true }], isOver };
  return { commands: seated.map(({ id }) => leaving(id)), isOver };
}

/** The native members stop, so that their tasks can be claimed; ours get a message. */
function goneOf(state: TeamState, name: string, naming: Naming): NewCommand[] {
  const live = liveTeammates(state);
  const theirs = live.filter(({ id }) => naming.isNative(state, id));
  const ours = live.filter(({ id }) => !naming.isNative(state, id));
  const content =
    `Claude Code's team ${name} is gone: its lead ended it, or its files were removed. You keep your tasks; messages to ` +
    `its members reach nobody for now. If it comes back, everything continues by itself.`;
  return [
    { type: 'team.update', by: SYSTEM, metadata: { native: { ...markOf(state), name, gone: true } } },
    ...theirs.map(({ id }) => leaving(id, 'the native team is gone')),
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

function liveTeammates({ team, members }: TeamState): MemberRecord[] {
  return [...members.values()].filter(({ id, status }) => status !== 'stopped' && id !== team?.leadId);
}

/** Everyone was told, or nobody is left to tell. */
function isSaid(state: TeamState): boolean {
  return markOf(state)?.gone === true || state.team?.status !== 'active';
}
