import { expect } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import type { TeamState } from '../../../src/core/state.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { teamUsage, viewTask, viewTeam } from '../../../src/core/view.ts';
import { observeWorld } from './observe.ts';
import type { Outcome } from './rules.ts';
import type { World } from './world.ts';

/** What came of commands: events, as facts of the model, or a refusal. */
export type Answer = { facts: string[] } | { code: ErrorCode };

/** Fails if what is visible of a team differs from the model. */
export function expectSame(seen: object, world: World): void {
  const expected = observeWorld(world);
  // isSame is many times faster than toEqual, which is only needed to show a difference.
  if (isSame(seen, expected)) return;
  expect(plain(seen)).toEqual(plain(expected));
  throw new Error('The team and the model differ.');
}

/** Fails if an answer is none that the model allows. */
export function expectAnswer(answer: Answer, outcome: Outcome, about: unknown): void {
  const isRefused = 'code' in answer;
  if (isRefused && 'codes' in outcome && outcome.codes.includes(answer.code)) return;
  if (!isRefused && 'facts' in outcome && answer.facts.sort().join() === outcome.facts.sort().join()) return;
  expect(answer, JSON.stringify(about)).toEqual(outcome);
}

/** An event as a fact of the model. */
export function factOf(event: TeamEvent): string {
  if ('copies' in event) return `${event.type} ${event.copies.map(({ id }) => id).join(' ')}`;
  if ('messageIds' in event) {
    const again = 'redelivery' in event && event.redelivery ? ' again' : '';
    return `${event.type} ${event.messageIds.join(' ')}${again}`;
  }
  if (event.type === 'landing:begun' || event.type === 'landing:ended') return `${event.type} ${event.landingId}`;
  if ('requestId' in event) return `${event.type} ${event.requestId}`;
  if ('noteId' in event) return `${event.type} ${event.noteId}`;
  if (event.type === 'usage:recorded' || !('taskId' in event)) {
    return 'memberId' in event ? `${event.type} ${event.memberId}` : event.type;
  }
  return `${event.type} ${event.taskId}`;
}

/** Everything visible of a team, in the form of the model. */
export function observeState(state: TeamState): object {
  const { index } = state;
  const { members = [], ...team } = state.team ? viewTeam(state) : {};
  return {
    team: state.team && team,
    members,
    tasks: [...state.tasks.values()].map((record) => {
      const { blockedReason, failure, ...task } = viewTask(state, record);
      const named = [...(blockedReason ?? '').matchAll(/task (\d+) \(/g)].map(([, id]) => id);
      return {
        ...task,
        named,
        failure: failure?.replace(/^its dependency, task \d+, failed$/, 'a dependency failed'),
      };
    }),
    inboxes: [...state.members.keys()].map((id) => {
      const { ids = [], waiting = [] } = index.inboxes.get(id) ?? {};
      return { messages: ids.map((messageId) => state.messages.get(messageId)), waiting: [...waiting] };
    }),
    // The model has no revisions: what a request says never changes.
    requests: [...state.requests.values()].map(({ revision: _revision, ...request }) => request),
    notes: [...state.notes.values()],
    usage: {
      team: teamUsage(state),
      members: [...state.members.keys()].map((id) => state.memberUsage.get(id) ?? NO_USAGE),
      tasks: [...state.tasks.keys()].map((id) => state.taskUsage.get(id) ?? NO_USAGE),
    },
    accounts: [...state.accounts.values()],
    nextId: String(state.nextTask),
  };
}

/** Compares like JSON: a date equals its number, and undefined fields are ignored. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Date) return a.getTime() === b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!isSame(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** The value with dates as numbers and without undefined fields, for a comparison that shows differences. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
}
