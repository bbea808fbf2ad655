import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { isDown } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SharedTaskList } from '../ledger/task-list.ts';
import { Alarms } from './alarms.ts';
import { isForNewTasks } from './hooks/team-hooks.ts';

/** Makes sure that no new task stays unjudged forever. */
export interface NewTaskKeeper {
  /** Takes over the tasks of a daemon that ended while its hooks ran; of a stopped team, when a person brings it up. */
  start(): Promise<void>;
  close(): void;
}

/** Added to the timeouts of all hooks of a team, because other tasks may wait for them too. */
const MARGIN_MS = 30_000;

/**
 * Judges new tasks that their creator left unjudged: it was killed, or could not reach the journal when its hooks had
 * finished. With `alone` no other daemon can be judging when this one starts.
 */
export function keepNewTasks(
  { ledger, tasks, alone }: { ledger: Ledger; tasks: SharedTaskList; alone: boolean },
  onError: (error: unknown, teamId: string) => void,
): NewTaskKeeper {
  const alarms = new Alarms(onError);
  /** Tasks of teams that are down. A person may have stopped everything because of their hooks. */
  const kept = new Map<string, Left[]>();
  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) react(teamId, event, state);
  });

  return {
    async start() {
      for (const teamId of await ledger.teams()) {
        try {
          await ledger.view(teamId, (state) => {
            const left = findLeft(state, alone);
            if (isDown(state)) kept.set(teamId, left);
            else armAll(teamId, left);
          });
        } catch (error) {
          onError(error, teamId);
        }
      }
    },
    close() {
      unsubscribe();
      alarms.close();
    },
  };

  function react(teamId: string, event: TeamEvent, state: TeamState): void {
    if (event.type === 'teammate:joined' && event.agent) {
      armAll(teamId, kept.get(teamId) ?? []);
      kept.delete(teamId);
    }
    if (event.type === 'task:created' && event.unjudged) arm(teamId, event.taskId, Date.now() + limitOf(state));
    if (event.type === 'task:updated' && event.unjudged === false) alarms.clear(teamId, event.taskId);
    if (event.type === 'task:deleted') alarms.clear(teamId, event.taskId);
  }

  function armAll(teamId: string, left: readonly Left[]): void {
    for (const { id, dueAt } of left) arm(teamId, id, dueAt);
  }

  function arm(teamId: string, taskId: string, at: number): void {
    alarms.set(teamId, taskId, at, () => judge(teamId, taskId));
  }

  async function judge(teamId: string, taskId: string): Promise<void> {
    const { isLeft, limit } = await ledger.view(teamId, (state) => {
      const found = state.tasks.get(taskId);
      return { isLeft: found?.unjudged === true && found.status === 'pending', limit: limitOf(state) };
    });
    if (!isLeft) return;
    try {
      const { unable } = await tasks.judgeNewTask(teamId, taskId);
      // Another machine may be able to run the hooks, or a person may fix them.
      if (unable !== undefined) arm(teamId, taskId, Date.now() + limit);
    } catch (error) {
      const isOver = error instanceof TeamError && OVER.has(error.code);
      if (isOver) return;
      arm(teamId, taskId, Date.now() + limit);
      throw error;
    }
  }
}

/** A task that was left unjudged, and when this daemon may judge it. */
interface Left {
  readonly id: string;
  readonly dueAt: number;
}

function findLeft(state: TeamState, alone: boolean): Left[] {
  if (state.team?.status === 'cleaned-up') return [];
  return [...state.tasks.values()]
    .filter(({ status, unjudged }) => unjudged && status === 'pending')
    .map(({ id, createdAt }) => ({ id, dueAt: alone ? 0 : createdAt.getTime() + limitOf(state) }));
}

/** Error codes of a task that was rejected or is gone. */
const OVER: ReadonlySet<string> = new Set(['gate_rejected', 'not_found', 'team_closed']);

function limitOf({ team }: TeamState): number {
  const hooks = team?.hooks.filter(isForNewTasks) ?? [];
  return hooks.reduce((sum, { timeout }) => sum + timeout, MARGIN_MS);
}
