import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasOwnBlocker } from '../../src/core/blocked.ts';
import type { Command } from '../../src/core/command.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { filesInTheWay } from '../../src/core/in-the-way.ts';
import { describeTask, isOpen } from '../../src/core/obstacles.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { createState, keepChanges, noteChanges, takeBackTo } from '../../src/core/state.ts';
import type { TaskRecord, TeamState } from '../../src/core/state.ts';
import { pendingRequests } from '../../src/core/tables.ts';
import { requireMember, requireTask, requireTeam, viewTask, viewTeam } from '../../src/core/view.ts';
import { tries } from '../proof.ts';
import { copyOf, picture } from './picture.ts';
import { OPENING, play, steps, toCommand, tryOne, walk } from './random-team.ts';
import type { Step } from './random-team.ts';
import { teamOf, types } from './stage.ts';

describe('tasks', () => {
  test('invariant 1: a task has at most one holder at any epoch, every claim raises the epoch, epochs never repeat', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const highest = new Map<string, number>();
        const holders = new Map<string, string>();
        walk(story, (before, _command, events, after) => {
          for (const event of events ?? []) {
            if (!('epoch' in event)) continue;
            const { taskId, epoch } = event;
            const last = highest.get(taskId) ?? 0;
            // The release when a member leaves and the end of its reservation share an epoch.
            expect(epoch).toBeGreaterThanOrEqual(last);
            if (event.type === 'task:claimed') {
              expect(epoch).toBeGreaterThan(last);
              expect(holders.get(`${taskId}@${epoch}`)).toBeUndefined();
              holders.set(`${taskId}@${epoch}`, event.memberId);
            }
            highest.set(taskId, epoch);
          }
          for (const task of after.tasks.values()) {
            const was = before.tasks.get(task.id);
            const holder = holderOf(task);
            if (holder !== undefined && was && holderOf(was) !== holder) expect(task.epoch).toBeGreaterThan(was.epoch);
            if (holder !== undefined) expect(holders.get(`${task.id}@${task.epoch}`)).toBe(holder);
            if (was) expect(task.epoch).toBeGreaterThanOrEqual(was.epoch);
          }
        });
      }),
      tries(10),
    );
  });

  test('invariant 2: a write by a holder succeeds only with the current epoch; a stale one fails and changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('ann', 'bob'), { minLength: 1, maxLength: 6 }),
        fc.nat(20),
        (claims, epoch) => {
          for (const type of ['task.update', 'task.release', 'task.complete', 'task.fail'] as const) {
            const team = teamOf('ann', 'bob');
            const taskId = team.task();
            for (const by of claims) {
              if (team.view(taskId).status === 'in_progress') team.do('task.release', { taskId });
              team.as(by, 'task.claim', { taskId });
            }
            const holder = claims.at(-1) as string;
            const input = { taskId, epoch, ...(type === 'task.fail' && { reason: 'x' }) } as {
              taskId: string;
              reason: string;
            };
            const before = picture(team.state);
            if (epoch === team.view(taskId).epoch) {
              expect(team.as(holder, type, input)).toHaveLength(1);
            } else {
              expect(team.refuse(holder, type, input).code).toBe('stale_epoch');
              expect(picture(team.state)).toEqual(before);
            }
          }
        },
      ),
      tries(10),
    );
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    team.do('task.assign', { taskId, assigneeId: 'bob' });
    team.as('bob', 'task.claim', { taskId });
    expect(team.refuse('ann', 'task.complete', { taskId, epoch: 1 })).toMatchObject({
      code: 'stale_epoch',
      message: `Task ${taskId} is at epoch 3, not 1: it changed hands; claim it again before writing`,
    });
  });

  test('invariant 3: a claim succeeds only if the task is pending, its dependencies are completed, and it is free or reserved for the caller', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        walk(story, (before, command, events) => {
          if (command.type !== 'task.claim' || events === undefined) return;
          for (const event of events) {
            if (event.type !== 'task:claimed') continue;
            const task = requireTask(before, event.taskId);
            expect(task.status).toBe('pending');
            expect([undefined, command.by]).toContain(task.assigneeId);
            for (const id of task.dependencies) {
              const { status } = requireTask(before, id);
              expect(status === 'completed' || (status === 'failed' && task.onDependencyFailure === 'proceed')).toBe(
                true,
              );
            }
          }
        });
      }),
      tries(27),
    );
  });

  test('invariant 3: a claim of one task succeeds whenever these conditions hold', () => {
    fc.assert(
      fc.property(steps(60), (story) => {
        const state = played(story);
        if (state.team?.status !== 'active') return;
        for (const member of state.members.values()) {
          if (member.status === 'stopped' || member.status === 'shutting-down') continue;
          for (const task of state.tasks.values()) {
            const may =
              task.status === 'pending' &&
              !hasOwnBlocker(task) &&
              (task.assigneeId === undefined || task.assigneeId === member.id) &&
              !task.dependencies.some((id) => isOpen(task, state.tasks.get(id))) &&
              filesInTheWay(state, task, { memberId: member.id }).length === 0;
            const claim: Command = { type: 'task.claim', at: 9999, by: member.id, taskId: task.id };
            expect(tryOne(copyOf(state), claim) !== undefined).toBe(may);
          }
        }
      }),
      tries(10),
    );
  });

  test('invariant 4: completed and deleted are final; reopening makes a new epoch and an event', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        walk(story, (before, command, events, after) => {
          for (const was of before.tasks.values()) {
            const now = requireTask(after, was.id, { deleted: true });
            if (was.status !== 'completed' && was.status !== 'deleted') continue;
            if (now.status === was.status || now.status === 'deleted') continue;
            expect(now.status).toBe('pending');
            expect(command.type).toBe('task.reopen');
            expect(now.epoch).toBeGreaterThan(was.epoch);
            expect(events).toContainEqual(
              expect.objectContaining({ type: 'task:reopened', taskId: was.id, by: command.by, epoch: now.epoch }),
            );
          }
        });
      }),
      tries(17),
    );
  });

  test('invariant 5: the dependency graph is acyclic after every event', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        for (const [i, step] of [...OPENING, ...story].entries()) {
          for (const event of tryOne(state, toCommand(state, step, i)) ?? []) {
            if (event.type.startsWith('task:')) expectAcyclic(state);
          }
        }
      }),
      tries(17),
    );
  });

  test('invariant 6: dependencies and dependents agree after every event', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        for (const [i, step] of [...OPENING, ...story].entries()) {
          tryOne(state, toCommand(state, step, i));
          const tasks = [...state.tasks.values()].filter((task) => task.status !== 'deleted');
          const views = new Map(tasks.map((task) => [task.id, viewTask(state, task)]));
          for (const view of views.values()) {
            const waiting = tasks.filter((task) => task.dependencies.includes(view.id)).map((task) => task.id);
            expect(view.blocks).toEqual(waiting);
            for (const id of view.dependencies) expect(views.get(id)?.blocks).toContain(view.id);
            const open = view.dependencies.filter((id) => isOpen(requireTask(state, view.id), state.tasks.get(id)));
            const isPending = ['pending', 'blocked'].includes(view.status);
            expect(view.blockedBy).toEqual(isPending ? open : []);
            const isFiled = view.filesHeldBy !== undefined;
            expect(view.status === 'blocked').toBe(
              isPending && (hasOwnBlocker(view) || view.blockedBy.length > 0 || isFiled),
            );
          }
        }
      }),
      tries(10),
    );
  });

  test('invariant 7: task ids are unique and never reused, also after a deletion, a snapshot and a rollback', () => {
    fc.assert(
      fc.property(steps(60), steps(60), (story, later) => {
        const state = createState('alpha');
        const created = [...play(state, OPENING), ...play(state, story, 100)].flatMap(createdId);
        noteChanges(state);
        play(state, later, 1000);
        takeBackTo(state, 0);
        keepChanges(state);
        const reopened = openSnapshot('alpha', takeSnapshot(state)) as TeamState;
        for (const after of [state, reopened]) {
          const ids = [...created, ...play(after, later, 2000).flatMap(createdId)];
          expect(ids).toEqual(ids.map((_, i) => String(i + 1)));
          expect(after.nextTask).toBe(ids.length + 1);
        }
      }),
      tries(17),
    );
  });

  test('invariant 10: completion through a gate is one compare-and-set on the revision and epoch read before the gate ran', () => {
    fc.assert(
      fc.property(steps(30), (meanwhile) => {
        const state = played([]);
        tryOne(state, { type: 'task.claim', at: 50, by: 'ann', taskId: '1' });
        const { epoch, revision } = requireTask(state, '1');
        // Changes while the gate runs, outside any lock.
        play(state, meanwhile, 100);
        const now = requireTask(state, '1', { deleted: true });
        const moved = now.epoch !== epoch || now.revision !== revision;
        const before = picture(state);
        // Ann works apart; it changed nothing, so nothing has to land.
        const size = { files: 0, added: 0, removed: 0, paths: [] };
        const onto = state.team?.work?.tip ?? '';
        const work = { memberId: 'ann', epoch, base: onto, commit: onto, ...size, onto };
        const complete: Command = { type: 'task.complete', at: 999, by: '@system', taskId: '1', epoch, revision, work };
        const verdict = tryOne(state, complete);
        if (moved) {
          expect(verdict).toBeUndefined();
          expect(picture(state)).toEqual(before);
        } else if (state.team?.status !== 'cleaned-up') {
          expect(verdict?.[1]).toMatchObject({ type: 'task:completed', taskId: '1', memberId: 'ann' });
        }
      }),
      tries(34),
    );
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    const seen = team.view(taskId);
    team.as('ann', 'task.update', { taskId, description: 'changed while the gate ran' });
    const { epoch, revision } = seen;
    expect(team.refuse('ann', 'task.complete', { taskId, epoch, revision })).toMatchObject({ code: 'stale_revision' });
    team.as('ann', 'task.release', { taskId });
    team.as('ann', 'task.claim', { taskId });
    expect(team.refuse('ann', 'task.complete', { taskId, epoch })).toMatchObject({ code: 'stale_epoch' });
    expect(team.view(taskId).status).toBe('in_progress');
  });
});

describe('messages', () => {
  test('invariant 12: every message has a unique id, set when it is sent; the same id again has no effect and returns the first', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const first = new Map<string, object>();
        walk(story, (_before, command, events, after) => {
          for (const event of events ?? []) {
            if (event.type !== 'message:sent') continue;
            for (const { id } of event.copies) {
              expect(first.has(id)).toBe(false);
              first.set(id, { ...after.messages.get(id) });
            }
          }
          for (const [id, { fromId, toId, content, order, sentAt }] of after.messages) {
            expect(first.get(id)).toMatchObject({ id, fromId, toId, content, order, sentAt });
          }
          if (command.type === 'message.send' && events?.length === 1) {
            expect(tryOne(copyOf(after), { ...command, commandId: undefined })).toEqual([]);
          }
        });
      }),
      tries(10),
    );
  });

  test('invariant 13: each id is shown at most once per session, again only if marked, and never after it was acknowledged or read', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const shown = new Set<string>();
        const had = new Set<string>();
        walk(story, (_before, command, events) => {
          for (const event of events ?? []) {
            if (event.type === 'message:acknowledged' || event.type === 'message:read') {
              for (const id of event.messageIds) had.add(id);
            }
            if (event.type !== 'message:delivered') continue;
            const toldToRepeat = command.type === 'message.deliver' && command.redelivery;
            for (const id of event.messageIds) {
              const key = `${id} in ${event.sessionId}`;
              expect(had.has(id)).toBe(false);
              if (shown.has(key) && event.redelivery !== true) expect.unreachable(`${key} was shown twice, unmarked`);
              if (event.redelivery === true) expect(shown.has(id)).toBe(true);
              if (event.redelivery !== true) expect(shown.has(id)).toBe(false);
              if (shown.has(key)) expect(toldToRepeat || event.redelivery === true).toBe(true);
              shown.add(key).add(id);
            }
          }
        });
      }),
      tries(34),
    );
  });

  test('invariant 13: a status is state, not a message', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    team.as('ann', 'task.complete', { taskId, result: 'done' });
    for (const status of ['idle', 'active', 'idle', 'shutting-down'] as const) {
      team.as('ann', 'member.change', { memberId: 'ann', status, result: 'done' });
    }
    team.as('ann', 'member.leave', { memberId: 'ann' });
    expect(team.state.messages.size).toBe(0);
    expect(types(team.events).filter((type) => type === 'teammate:idle')).toHaveLength(2);
  });

  test('invariant 14: per sender and recipient the order is that of sending; a broadcast reaches all members', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        for (const [i, step] of [...OPENING, ...story].entries()) {
          const roster = [...state.members.values()];
          for (const event of tryOne(state, toCommand(state, step, i)) ?? []) {
            if (event.type === 'message:delivered') {
              const orders = event.messageIds.map((id) => state.messages.get(id)?.order as number);
              expect(orders).toEqual([...orders].sort((a, b) => a - b));
            }
            if (event.type !== 'message:sent' || event.broadcastId === undefined) continue;
            const expected = roster.filter((member) => member.status !== 'stopped' || member.returning);
            expect(event.copies.map(({ toId }) => toId)).toEqual(
              expected.map(({ id }) => id).filter((id) => id !== event.by),
            );
          }
        }
        const sent = [...state.messages.values()];
        expect(sent.map(({ order }) => order)).toEqual(sent.map((_, i) => i + 1));
        for (const [memberId, { ids, waiting }] of state.index.inboxes) {
          const own = sent.filter(({ toId }) => toId === memberId);
          expect(ids).toEqual(own.map(({ id }) => id));
          const open = own.filter(({ acknowledgedAt, readAt }) => !acknowledgedAt && !readAt);
          expect([...waiting]).toEqual(open.map(({ id }) => id));
        }
      }),
      tries(17),
    );
  });

  test('pending requests are found without a look at answered ones', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        for (const [i, step] of [...OPENING, ...story].entries()) tryOne(state, toCommand(state, step, i));
        const pending = [...state.requests.values()].filter(({ status }) => status === 'pending');
        expect(new Set(pendingRequests(state))).toEqual(new Set(pending));
        for (const taskId of state.tasks.keys()) {
          const about = pending.filter((request) => request.taskId === taskId);
          expect(new Set(pendingRequests(state, taskId))).toEqual(new Set(about));
        }
        // Answered requests leave nothing in the index that could grow.
        expect([...state.index.asked.values()].reduce((sum, { size }) => sum + size, 0)).toBe(pending.length);
        expect([...state.index.asked.values()].every(({ size }) => size > 0)).toBe(true);
      }),
      tries(17),
    );
  });

  test('invariant 15: an unknown team, member or task is an error and never an empty answer', () => {
    const nothing = createState('alpha');
    for (const ask of [
      () => requireTeam(nothing),
      () => viewTeam(nothing),
      () => requireMember(nothing, 'ann'),
      () => requireTask(nothing, '1'),
    ]) {
      expect(ask).toThrow(expect.objectContaining({ code: 'not_found' }));
    }
    const { state } = teamOf('ann');
    expect(() => requireMember(state, 'eve')).toThrow('Team alpha has no member "eve"; it has lead, ann');
    expect(() => requireTask(state, '1')).toThrow('Task "1" of team alpha does not exist');
    expect(describeTask(state, '1')).toBe('task 1 (unknown)');
  });

  test('invariant 16: a message to an unknown or stopped member is refused, to a returning one it waits visibly', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        walk(story, (before, command, events, after) => {
          if (command.type !== 'message.send') return;
          const recipient = before.members.get(command.toId);
          const reads = recipient !== undefined && (recipient.status !== 'stopped' || recipient.returning === true);
          const isNew = events !== undefined && events.length > 0;
          if (isNew) expect(reads).toBe(true);
          if (isNew) expect(after.index.inboxes.get(command.toId)?.waiting).toContain(command.messageId);
        });
      }),
      tries(17),
    );
    const team = teamOf('ann');
    const input = { messageId: 'm1', toId: 'eve', content: 'x' };
    expect(team.refuse('lead', 'message.send', input).code).toBe('not_found');
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('lead', 'message.send', { ...input, toId: 'ann' }).code).toBe('member_stopped');
  });
});

describe('members', () => {
  test('invariant 21: a team has at most one live member of a name; the same request again returns the same member', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        walk(story, (before, _command, events, after) => {
          for (const event of events ?? []) {
            if (event.type !== 'teammate:joined') continue;
            expect(before.members.get(event.memberId)?.status ?? 'stopped').toBe('stopped');
          }
          if (after.team) {
            const names = viewTeam(after).members.map(({ name }) => name);
            expect(new Set(names).size).toBe(names.length);
          }
        });
      }),
      tries(17),
    );
    const team = teamOf();
    expect(team.as('lead', 'member.join', { name: 'ann' }, 'spawn-1')).toHaveLength(1);
    const first = requireMember(team.state, 'ann');
    expect(team.as('lead', 'member.join', { name: 'ann' }, 'spawn-1')).toEqual([]);
    expect(requireMember(team.state, 'ann')).toBe(first);
    expect(team.state.receipts.get('spawn-1')).toMatchObject({ by: 'lead', memberId: 'ann' });
    expect(team.refuse('lead', 'member.join', { name: 'ann' }, 'spawn-2').code).toBe('exists');
  });
});

function played(story: readonly Step[]): TeamState {
  const state = createState('alpha');
  play(state, OPENING);
  play(state, story, 100);
  return state;
}

function holderOf(task: TaskRecord): string | undefined {
  return task.status === 'in_progress' ? task.assigneeId : undefined;
}

function createdId(event: TeamEvent): string[] {
  return event.type === 'task:created' ? [event.taskId] : [];
}

/** Removes tasks without remaining dependencies until none is left. */
function expectAcyclic(state: TeamState): void {
  const left = new Set(state.tasks.keys());
  for (let moved = true; moved;) {
    moved = false;
    for (const id of left) {
      if (state.tasks.get(id)?.dependencies.some((dependency) => left.has(dependency))) continue;
      left.delete(id);
      moved = true;
    }
  }
  expect([...left]).toEqual([]);
}
