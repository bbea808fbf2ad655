import { SYSTEM, USER } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { nameOfInner } from '../../core/inner.ts';
import type { TeamParent } from '../../core/inner.ts';
import { MESSAGE_BYTES } from '../../core/limits.ts';
import { SHUTDOWN } from '../../core/member-marks.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import { cutToBytes } from '../../core/text.ts';
import { requireTask, requireTeam, teamUsage } from '../../core/view.ts';
import type { Mailbox } from '../../ledger/mailbox.ts';
import { openQueues } from '../../workspaces/queue.ts';
import type { Attendance } from '../attendance.ts';
import type { TeamCoordinator } from '../coordinator.ts';
import type { SessionManager } from '../sessions.ts';
import { bringHome, describeUnlanded } from './bring-home.ts';
import { passedMessages } from './pass-on.ts';
import type { PassedMessage } from './pass-on.ts';
import { raiseInner, refreshBudgets, requireInnerTeam } from './raise-inner.ts';
import type { RaiseParts } from './raise-inner.ts';
import { standingOf } from './standing.ts';
import type { Standing } from './standing.ts';

/** What the teams inside members need. */
export interface InnerTeamsOptions extends RaiseParts {
  readonly mailbox: Mailbox;
  readonly sessions: SessionManager;
  readonly coordinator: TeamCoordinator;
  readonly attendance: Pick<Attendance, 'enter'>;
  readonly onError: (error: unknown, teamId: string) => void;
}

/** A turn of a member that is a team. */
export interface InnerTurn {
  /** The same for every try of one turn. */
  readonly id: string;
  readonly text: string;
}

/** The teams that work on tasks of other teams. */
export interface InnerTeams {
  /** The team that works on a task: started, or found again and woken. It gets the turn. Returns its name. */
  begin(parent: TeamParent, turn: InnerTurn): Promise<string>;
  /** Passes messages of the member to its lead. */
  tell(parent: TeamParent, messageIds: readonly string[]): Promise<void>;
  /** Stops its members; it can go on later. */
  rest(parent: TeamParent, reason: string): Promise<void>;
  /** How far the team of a task is. */
  standing(innerId: string): Promise<Standing>;
  /** Lays its work into the folder of the member. Returns what of it is not part of that. */
  bringHome(parent: TeamParent, innerId: string): Promise<string[]>;
  /** Says that the process of the member follows its team; call the result when it no longer does. */
  attend(innerId: string): () => void;
  /** Closes all teams that worked for a team, and the teams inside those; resolves when their processes have ended. */
  endAll(teamId: string): Promise<void>;
  /** Brings the teams of an earlier daemon to what the teams around them say. */
  start(): Promise<void>;
  close(): void;
}

/** How long a team goes on without the process of its member: a restart of the daemon is shorter. */
const GRACE_MS = 30_000;

/**
 * Keeps the teams inside members: each follows from the task that it works on. It runs while its member holds the task,
 * and rests otherwise. It is closed with the task, or with the team around it.
 */
export function keepInnerTeams(options: InnerTeamsOptions): InnerTeams {
  const { ledger, works, mailbox, sessions, coordinator, attendance, onError } = options;
  /** What is done to a team is done one after the other. */
  const lanes = openQueues();
  let unsubscribe = (): void => {};
  let isClosed = false;

  function inLane<R>({ teamId, taskId }: Pick<TeamParent, 'teamId' | 'taskId'>, work: () => Promise<R>): Promise<R> {
    return lanes(`${teamId}/${taskId}`, work);
  }

  async function begin(parent: TeamParent, turn: InnerTurn): Promise<string> {
    const { teamId, memberId, taskId } = parent;
    const { team, inner } = await ledger.view(teamId, (state) => ({
      team: requireInnerTeam(state, memberId),
      inner: requireTask(state, taskId).inner,
    }));
    const goal = `Your team works on a task for ${memberId}, a member of team ${teamId}. Your last answer goes back as its result.\n\n${turn.text}`;
    const found = inner && (await ledger.view(inner.teamId, (state) => state.team));
    const isOwn = found?.parent?.teamId === teamId && found.parent.taskId === taskId;
    const isOpen = isOwn && found.status !== 'cleaned-up';
    if (inner?.memberId === memberId) {
      // It was named, and the daemon ended before it was there.
      if (!found) return raise(inner.teamId);
      if (isOpen && !(await isBehind(parent, inner.teamId))) {
        // Those of stopped members wait until they run.
        await refreshBudgets(ledger, inner.teamId, team);
        await wake(inner.teamId);
        await refreshBudgets(ledger, inner.teamId, team);
        await send(inner.teamId, { id: `turn-${turn.id}`, by: SYSTEM, content: goal, priority: 'urgent' });
        return inner.teamId;
      }
    }
    // It began from other files, or works for the member that had the task before.
    if (inner && isOpen) await end(inner.teamId);
    const taken = new Set(await ledger.teams());
    const name = nameOfInner(parent, (one) => taken.has(one));
    await ledger.execute(teamId, { type: 'task.update', by: SYSTEM, taskId, inner: name }, () => undefined);
    return raise(name);

    async function raise(name: string): Promise<string> {
      await raiseInner(options, { name, parent, team, goal });
      return name;
    }
  }

  /**
   * Whether the folder of the member has other files than its team ended with: after a conflict with what others landed,
   * it has both sides. A new team begins from there.
   */
  async function isBehind({ teamId, memberId }: TeamParent, innerId: string): Promise<boolean> {
    const work = await ledger.view(innerId, ({ team }) => team?.work);
    if (!work || !works) return false;
    const saved = await (await works.workspaceOf({ teamId, memberId })).save();
    if (!saved || saved.commit === work.base) return false;
    const { depot } = await works.bring(innerId);
    const { tree, conflicts } = await depot.merge(work.tip, saved.commit, { base: work.base });
    const { out } = await depot.handle.run(['rev-parse', `${work.tip}^{tree}`]);
    return conflicts.length > 0 || tree !== out.toString().trim();
  }

  async function wake(innerId: string): Promise<void> {
    const stopped = await ledger.view(innerId, ({ team, members }) =>
      [...members.values()].filter(
        ({ id, agent, status, stopReason, returning }) =>
          agent !== undefined && status === 'stopped' && !returning && (stopReason !== SHUTDOWN || id === team?.leadId),
      ),
    );
    for (const { id } of stopped) await sessions.restartSession(innerId, id, USER);
  }

  async function send(innerId: string, { id, by, content, priority }: PassedMessage): Promise<void> {
    const toId = await ledger.view(innerId, (state) => requireTeam(state).leadId);
    const type = by === SYSTEM ? ('system' as const) : ('direct' as const);
    const message = { toId, content: cutToBytes(content, MESSAGE_BYTES), type, priority };
    await mailbox.send(innerId, by, message, { messageId: id });
  }

  /** The team that works on a task for this member, if there is one. */
  async function innerOf({ teamId, memberId, taskId }: TeamParent): Promise<string | undefined> {
    const inner = await ledger.view(teamId, ({ tasks }) => tasks.get(taskId)?.inner);
    return inner?.memberId === memberId ? inner.teamId : undefined;
  }

  async function end(innerId: string): Promise<void> {
    const isOpen = await ledger.view(innerId, ({ team }) => team !== undefined && team.status !== 'cleaned-up');
    if (!isOpen) return;
    await coordinator.shutdownTeam(innerId, { by: SYSTEM, reason: 'its task is over', within: 0, force: true });
  }

  async function endAll(teamId: string): Promise<void> {
    const found = await ledger.viewAll(
      ({ team }) => (team?.parent?.teamId === teamId ? [{ innerId: team.name, parent: team.parent }] : []),
      { unreadable: () => [] },
    );
    for (const { innerId, parent } of found.flat()) {
      await inLane(parent, () => end(innerId));
      await endAll(innerId);
    }
  }

  async function restNow(innerId: string, reason: string): Promise<void> {
    const isOpen = await ledger.view(innerId, ({ team }) => team !== undefined && team.status !== 'cleaned-up');
    if (isOpen) await coordinator.restTeam(innerId, { by: SYSTEM, reason });
  }

  /** What the team around it says about a team. */
  async function wanted({ teamId, memberId, taskId }: TeamParent, innerId: string): Promise<'run' | 'rest' | 'end'> {
    return ledger.view(teamId, ({ team, tasks }) => {
      const task = tasks.get(taskId);
      if (!team || team.status === 'cleaned-up' || !task || task.inner?.teamId !== innerId) return 'end';
      if (task.status === 'completed' || task.status === 'deleted') return 'end';
      return task.status === 'in_progress' && task.assigneeId === memberId ? 'run' : 'rest';
    });
  }

  /** Brings a team to what the team around it says. */
  function align(parent: TeamParent, innerId: string): void {
    if (isClosed) return;
    inLane(parent, async () => {
      if (isClosed) return;
      const now = await wanted(parent, innerId);
      if (now === 'end') await end(innerId);
      if (now === 'rest') await restNow(innerId, `${parent.memberId} no longer works on the task`);
    }).catch((error: unknown) => onError(error, innerId));
  }

  /** Counts what a team used to the member that it works for. */
  async function count(innerId: string): Promise<void> {
    const { parent, usage } = await ledger.view(innerId, (state) => ({
      parent: state.team?.parent,
      usage: teamUsage(state),
    }));
    if (!parent) return;
    const { teamId, memberId, taskId } = parent;
    const command = { type: 'usage.record', by: SYSTEM, memberId, taskId, usage, inner: innerId } as const;
    await ledger
      .execute(teamId, command, () => undefined)
      .catch((error: unknown) => {
        // The team around it was deleted.
        if (!(error instanceof TeamError) || error.code !== 'not_found') throw error;
      });
  }

  function hear(teamId: string, events: readonly { type: string; taskId?: unknown }[], state: TeamState): void {
    if (state.team?.parent && events.some(({ type }) => type === 'usage:recorded')) {
      count(teamId).catch((error: unknown) => onError(error, teamId));
    }
    const touch = (task: TaskRecord | undefined): void => {
      if (task?.inner) align({ teamId, memberId: task.inner.memberId, taskId: task.id }, task.inner.teamId);
    };
    if (events.some(({ type }) => type === 'team:closed')) return state.tasks.forEach((task) => touch(task));
    for (const { type, taskId } of events) {
      if (type.startsWith('task:') && typeof taskId === 'string') touch(state.tasks.get(taskId));
    }
  }

  return {
    begin: (parent, turn) => inLane(parent, () => begin(parent, turn)),
    async tell(parent, messageIds) {
      const innerId = await innerOf(parent);
      if (innerId === undefined) throw new TeamError('conflict', `No team works on task ${parent.taskId}`);
      for (const message of await passedMessages(ledger, parent, messageIds)) await send(innerId, message);
    },
    rest: (parent, reason) =>
      inLane(parent, async () => {
        const innerId = await innerOf(parent);
        if (innerId !== undefined) await restNow(innerId, reason);
      }),
    standing: (innerId) => standingOf(ledger, innerId),
    async bringHome(parent, innerId) {
      if (!works) return [];
      await bringHome({ ledger, works }, parent, innerId);
      return describeUnlanded({ ledger, works }, innerId);
    },
    endAll,
    attend: (innerId) => attendance.enter(innerId, GRACE_MS),
    async start() {
      unsubscribe = ledger.subscribe((teamId, { events }, state) => hear(teamId, events, state));
      const found = await ledger.viewAll(
        ({ teamId, team }) => (team?.parent ? [{ innerId: teamId, parent: team.parent, status: team.status }] : []),
        { unreadable: () => [] },
      );
      for (const { innerId, parent, status } of found.flat()) {
        await count(innerId).catch((error: unknown) => onError(error, innerId));
        if (status === 'cleaned-up') continue;
        align(parent, innerId);
        // The process of its member may have ended with the daemon before.
        attendance.enter(innerId, GRACE_MS)();
      }
    },
    close() {
      isClosed = true;
      unsubscribe();
    },
  };
}
