import type { Batch } from '../../src/client/replica.ts';
import { addUsage, NO_USAGE, taskLetGo, workIn } from '../../src/client/replica.ts';
import type { Usage } from '../../src/core/usage.ts';
import type { Asked, Span } from '../../src/core/work-time.ts';
import { tokensOf } from '../parts/format.ts';

/** Figures derived from a history. */
export interface Measures {
  /** Cumulative numbers of completed and created tasks, tokens and cost, at the same times. */
  readonly times: readonly number[];
  readonly created: readonly number[];
  readonly done: readonly number[];
  readonly tokens: readonly number[];
  readonly cost: readonly number[];
  /** Per member: working and waiting time in milliseconds. */
  readonly spent: ReadonlyMap<string, { readonly working: number; readonly waiting: number }>;
  /** Usage per member, and per task. */
  readonly members: ReadonlyMap<string, Usage>;
  readonly tasks: ReadonlyMap<string, Usage>;
  /** Numbers of messages, by sender and recipient. */
  readonly pairs: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

const POINTS = 200;

/** Reads the whole history once. `requests`: all ever made; `now` ends what still goes on. */
export function measure(history: readonly Batch[], requests: Iterable<Asked>, now: number): Measures {
  const start = history[0]?.events[0]?.at ?? now;
  const times = Array.from({ length: POINTS + 1 }, (_, i) => start + ((now - start) * i) / POINTS);
  const sums = { created: 0, done: 0, tokens: 0, cost: 0 };
  const series = { created: [] as number[], done: [] as number[], tokens: [] as number[], cost: [] as number[] };
  const members = new Map<string, Usage>();
  const tasks = new Map<string, Usage>();
  const pairs = new Map<string, Map<string, number>>();
  const clock = spentClock();
  const ended = new Set<string>();
  const deleted = new Set<string>();
  const sample = (): void => {
    for (const name of ['created', 'done', 'tokens', 'cost'] as const) series[name].push(sums[name]);
  };
  for (const { events } of history) {
    for (const event of events) {
      while (series.done.length < times.length && (times[series.done.length] ?? 0) < event.at) sample();
      clock.hear(event);
      if (event.type === 'task:created') sums.created++;
      else if (event.type === 'task:completed') {
        sums.done++;
        ended.add(event.taskId);
      } else if (event.type === 'task:deleted') {
        deleted.add(event.taskId);
        sums.created--;
        if (ended.delete(event.taskId)) sums.done--;
      } else if (event.type === 'task:reopened') {
        if (ended.delete(event.taskId)) sums.done--;
        if (deleted.delete(event.taskId)) sums.created++;
      }
      if (event.type === 'usage:recorded') {
        sums.tokens += tokensOf(event.usage);
        sums.cost += event.usage.costUsd;
        members.set(event.memberId, addUsage(members.get(event.memberId) ?? NO_USAGE, event.usage));
        if (event.taskId !== undefined) {
          tasks.set(event.taskId, addUsage(tasks.get(event.taskId) ?? NO_USAGE, event.usage));
        }
      } else if (event.type === 'message:sent') {
        const row = pairs.get(event.by) ?? new Map<string, number>();
        pairs.set(event.by, row);
        for (const { toId } of event.copies) row.set(toId, (row.get(toId) ?? 0) + 1);
      }
    }
  }
  while (series.done.length < times.length) sample();
  return { times, ...series, spent: clock.end(now, [...requests]), members, tasks, pairs };
}

/** A member works while it holds a task and waits for no answer. It waits while it runs and does not work. */
function spentClock() {
  interface Life {
    readonly held: Set<string>;
    readonly spans: Span[];
    /** Since when it holds a task, and since when it runs. */
    busySince?: number | undefined;
    liveSince?: number | undefined;
    lived: number;
  }
  const lives = new Map<string, Life>();
  const of = (id: string, at: number): Life => {
    const life = lives.get(id) ?? { held: new Set<string>(), spans: [], liveSince: at, lived: 0 };
    lives.set(id, life);
    return life;
  };
  const rest = (life: Life, at: number): void => {
    if (life.busySince !== undefined) life.spans.push([life.busySince, at]);
    life.busySince = undefined;
  };
  const stop = (life: Life, at: number): void => {
    rest(life, at);
    if (life.liveSince !== undefined) life.lived += Math.max(0, at - life.liveSince);
    life.liveSince = undefined;
  };
  const letGo = (taskId: string, at: number): void => {
    for (const life of lives.values()) if (life.held.delete(taskId) && life.held.size === 0) rest(life, at);
  };
  return {
    hear(event: Batch['events'][number]): void {
      const { at } = event;
      if (event.type === 'teammate:joined') of(event.memberId, at).liveSince ??= at;
      else if (event.type === 'teammate:stopped') stop(of(event.memberId, at), at);
      else if (event.type === 'task:claimed') {
        const life = of(event.memberId, at);
        life.held.add(event.taskId);
        life.busySince ??= at;
      } else {
        const taskId = taskLetGo(event);
        if (taskId !== undefined) letGo(taskId, at);
      }
    },
    end(now: number, requests: readonly Asked[]) {
      return new Map(
        [...lives].map(([id, life]) => {
          stop(life, now);
          const working = life.spans.reduce((sum, span) => sum + workIn(span, requests, id), 0);
          return [id, { working, waiting: Math.max(0, life.lived - working) }];
        }),
      );
    },
  };
}

/** A rate of a shorter time says nothing: one task in 20 seconds would be 180 tasks an hour. */
const RATE_FROM_MS = 10 * 60_000;

/** How many tasks are completed in an hour; undefined if the time is too short to say. */
export function tasksPerHour(completed: number, span: number): number | undefined {
  return span < RATE_FROM_MS ? undefined : (completed * 3_600_000) / span;
}
