import type { SpanContext } from '@opentelemetry/api';
import type { TeamEvent } from '../core/event.ts';
import { taskLetGo } from '../core/events/table.ts';
import type { HookResult, HookType } from '../core/hook.ts';
import { readTurns } from './traced-turns.ts';
import type { StartSpan, TeamSpan, TurnReader } from './traced-turns.ts';

/** A hook that ran. */
export interface TracedGate {
  readonly teamId: string;
  readonly type: HookType;
  readonly taskId?: string | undefined;
  readonly result: Pick<HookResult, 'exitCode' | 'duration' | 'timedOut'>;
}

/** One trace per team: its run, with its tasks, their turns and tools, gates, and landings. */
export interface TeamTraces {
  /** The span that a call belongs to if its caller names none: the member's task, else the run of the team. */
  parentOf(teamId: string, memberId: string | undefined): SpanContext;
  saw(teamId: string, events: readonly TeamEvent[]): void;
  gate(run: TracedGate): void;
  close(): Promise<void>;
}

interface Run {
  readonly span: TeamSpan;
  /** Tasks that a member works on. */
  readonly open: Map<string, TeamSpan>;
  /** The last span of each task: a turn may be read after the task has ended. */
  readonly tasks: Map<string, SpanContext>;
  readonly heldBy: Map<string, string>;
  /** Landings that are under way, by id, and the tasks that have not landed yet. */
  readonly landings: Map<string, { readonly span: TeamSpan; readonly left: Set<string> }>;
  readonly turns: TurnReader;
  /** It has events. Otherwise the team may not exist, and the run is not sent. */
  isReal: boolean;
  isOver: boolean;
}

/** Runs that are kept: more than work at the same time. */
const RUNS = 1_000;

/** Follows teams from the first call or event that this daemon sees, until they are closed or it ends. */
export function traceTeams(startSpan: StartSpan, transcripts: string): TeamTraces {
  const runs = new Map<string, Run>();
  const ending = new Set<Promise<void>>();

  function runOf(teamId: string): Run {
    const known = runs.get(teamId);
    if (known) return known;
    const span = startSpan('team.run', { attributes: { 'troupe.team': teamId } });
    const tasks = new Map<string, SpanContext>();
    const parentOf = (taskId: string | undefined): SpanContext => tasks.get(taskId ?? '') ?? span.context;
    const turns = readTurns({ folder: transcripts, teamId, startSpan, parentOf });
    const run: Run = {
      span,
      open: new Map(),
      tasks,
      heldBy: new Map(),
      landings: new Map(),
      turns,
      isReal: false,
      isOver: false,
    };
    runs.set(teamId, run);
    if (runs.size > RUNS) forgetOne();
    return run;
  }

  /** Names of teams that do not exist, and closed teams, push out no team at work. */
  function forgetOne(): void {
    const all = [...runs];
    const found = all.find(([, one]) => !one.isReal || one.isOver) ?? all[0];
    if (!found) return;
    runs.delete(found[0]);
    endRun(found[1]);
  }

  function take(run: Run, event: TeamEvent): void {
    const ended = taskLetGo(event);
    if (ended !== undefined) endTask(run, ended, event.at, event.type === 'task:failed' ? 'failed' : undefined);
    switch (event.type) {
      case 'task:claimed': {
        const { taskId, memberId, at } = event;
        const attributes = { 'troupe.task': taskId, 'troupe.member': memberId, 'gen_ai.agent.name': memberId };
        endTask(run, taskId, at);
        const span = startSpan('task', { parent: run.span.context, at, attributes });
        run.open.set(taskId, span);
        run.tasks.set(taskId, span.context);
        run.heldBy.set(memberId, taskId);
        return;
      }
      case 'landing:begun': {
        const { landingId, works, at } = event;
        const ids = works.map(({ taskId }) => taskId);
        const span = startSpan('landing', { parent: run.span.context, at, attributes: { 'troupe.tasks': ids } });
        run.landings.set(landingId, { span, left: new Set(ids) });
        return;
      }
      case 'work:landed': {
        const landing = run.landings.get(event.landingId ?? '');
        landing?.left.delete(event.taskId);
        if (landing?.left.size === 0) endLanding(run, event.landingId ?? '', { at: event.at, outcome: 'landed' });
        return;
      }
      case 'work:asked':
        return endLanding(run, event.landingId, { at: event.at, outcome: 'asked' });
      case 'landing:ended':
        return endLanding(run, event.landingId, { at: event.at, outcome: event.how });
      case 'team:closed':
        return endRun(run, event.at);
      default:
    }
  }

  function endTask({ open, heldBy }: Run, taskId: string, at: number, failure?: string): void {
    open.get(taskId)?.end({ at, failure });
    open.delete(taskId);
    for (const [memberId, held] of heldBy) if (held === taskId) heldBy.delete(memberId);
  }

  function endLanding({ landings }: Run, id: string, { at, outcome }: { at: number; outcome: string }): void {
    const { span } = landings.get(id) ?? {};
    span?.setAttributes({ 'troupe.outcome': outcome });
    span?.end({ at });
    landings.delete(id);
  }

  /** The turns are read first. Their spans are sent with the rest. */
  function endRun(run: Run, at?: number): void {
    if (run.isOver) return;
    run.isOver = true;
    const done = run.turns.close().then(() => {
      for (const span of run.open.values()) span.end({ at });
      for (const { span } of run.landings.values()) span.end({ at });
      if (run.isReal) run.span.end({ at });
    });
    ending.add(done);
    void done.finally(() => ending.delete(done));
  }

  return {
    parentOf(teamId, memberId) {
      const { heldBy, tasks, span } = runOf(teamId);
      return tasks.get(heldBy.get(memberId ?? '') ?? '') ?? span.context;
    },
    saw(teamId, events) {
      // A new team under an old name.
      if (events.some(({ type }) => type === 'team:created') && runs.get(teamId)?.isReal) {
        endRun(runOf(teamId));
        runs.delete(teamId);
      }
      const run = runOf(teamId);
      run.isReal = true;
      for (const event of events) take(run, event);
      for (const { type, by } of events) if (type !== 'message:sent') run.turns.look(by);
    },
    gate({ teamId, type, taskId, result: { exitCode, duration, timedOut } }) {
      const { tasks, span } = runOf(teamId);
      const end = Date.now();
      const gate = startSpan('gate', {
        parent: tasks.get(taskId ?? '') ?? span.context,
        at: end - duration,
        attributes: {
          'troupe.hook': type,
          'troupe.verdict': exitCode === 2 ? 'rejected' : exitCode === 0 ? 'allowed' : 'failed',
          ...(taskId !== undefined && { 'troupe.task': taskId }),
        },
      });
      gate.end({ at: end, failure: exitCode === 1 ? (timedOut ? 'timeout' : 'failed') : undefined });
    },
    async close() {
      for (const run of runs.values()) endRun(run);
      await Promise.all(ending);
    },
  };
}
