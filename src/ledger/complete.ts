import type { TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import type { HandedIn } from '../core/work.ts';
import { handIn } from './hand-in.ts';
import type { WorkSaver } from './hand-in.ts';
import type { Ledger, NewCommand } from './ledger.ts';
import type { RunningCalls } from './running-calls.ts';
import { judgeCompletion } from './task-gate.ts';
import type { Completion, Judged, TaskGate } from './task-gate.ts';
import { until } from './until.ts';

/** A completion, and how its end is recorded. */
export interface Completing {
  readonly teamId: string;
  readonly completion: Completion;
  readonly record: (judged: Judged) => Promise<SharedTask>;
  readonly reject: (rejection: NewCommand) => Promise<void>;
}

/** Who judges a completion, and how long its answer may wait. */
export interface CompletingOptions {
  readonly ledger: Ledger;
  readonly gate: TaskGate | undefined;
  readonly works: WorkSaver | undefined;
  /** Calls that run: the same completion sent twice is judged once. */
  readonly running: RunningCalls;
  readonly wait: number | undefined;
  readonly signal: AbortSignal;
}

/** Lets the gate judge a completion and records both; work that was done apart goes through the merge queue. */
export async function complete(completing: Completing, options: CompletingOptions): Promise<SharedTask> {
  const { teamId, completion, record, reject } = completing;
  const { ledger, gate, works, running, wait, signal } = options;
  const now = (): number => ledger.now();
  const view = <R>(pick: (state: TeamState) => R): Promise<R> => ledger.view(teamId, pick);
  const judge = async (work?: HandedIn): Promise<Judged> => {
    if (!gate && !completion.refused) return {};
    const { by, taskId, commandId } = completion;
    const key = commandId === undefined ? undefined : `${teamId} done ${taskId} ${by} ${commandId}`;
    return running.join(key, () => judgeCompletion(gate, { ...completion, work }, { now, view, reject }));
  };
  if (!works) return record(await judge());
  const follow = <V>(look: (state: TeamState) => V | undefined): Promise<V | undefined> =>
    until(ledger, teamId, look, { wait, signal });
  return handIn(works, { teamId, completion, now, view, until: follow, judge, record, reject });
}
