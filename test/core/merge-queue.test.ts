import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import type { TeamState } from '../../src/core/state.ts';
import { draw } from '../draw.ts';
import { tries } from '../proof.ts';
import { WORK } from '../samples/work.ts';
import { LANDING, QUEUE, steps, walk } from './random-team.ts';

/** Stories in which works wait to land from the beginning. */
const stories = steps(60).map((story) => [...QUEUE, ...story]);

describe('the merge queue', () => {
  test('has just the tasks whose work is submitted, in the order of their first submissions', () => {
    fc.assert(
      fc.property(stories, (story) => {
        walk(story, (_before, _command, _events, after) => {
          const submitted = [...after.tasks.values()].filter(({ work }) => work?.state === 'submitted');
          const queue = after.team?.work?.queue ?? [];
          expect([...queue].sort()).toEqual(submitted.map(({ id }) => id).sort());
          const times = queue.map((id) => after.tasks.get(id)?.work?.queuedAt as number);
          expect(times).toEqual([...times].sort((a, b) => a - b));
          for (const { status, assigneeId, epoch, work } of submitted) {
            expect({ status, assigneeId, epoch }).toEqual({
              status: 'in_progress',
              assigneeId: work?.memberId,
              epoch: work?.epoch,
            });
          }
        });
      }),
      tries(20),
    );
  });

  test('has at most one open landing; it names works as they were handed in, unless they left the queue since', () => {
    fc.assert(
      fc.property(stories, (story) => {
        /** The tasks whose work is no longer as the open landing names it. */
        const gone = new Set<string>();
        walk(story, (before, _command, events, after) => {
          for (const event of events ?? []) {
            if (event.type === 'landing:begun') {
              expect(before.team?.work?.landing).toBeUndefined();
              expect(event.onto).toBe(before.team?.work?.tip);
              gone.clear();
            } else if ('taskId' in event && event.taskId !== undefined && LEAVE.has(event.type)) gone.add(event.taskId);
          }
          for (const { taskId, epoch, commit: named } of after.team?.work?.landing?.works ?? []) {
            if (gone.has(taskId)) continue;
            expect(after.tasks.get(taskId)?.epoch).toBe(epoch);
            expect(after.tasks.get(taskId)?.work).toMatchObject({ state: 'submitted', epoch, commit: named });
          }
        });
      }),
      tries(20),
    );
  });

  test('is the only way to complete work that was done apart, unless it has no changes, or a person completes it or a reviewer approves it', () => {
    fc.assert(
      fc.property(stories, (story) => {
        walk(story, (before, command, events) => {
          for (const event of events ?? []) {
            if (event.type !== 'task:completed' || !isApart(before, event.taskId) || command.by === '@user') continue;
            const landed = events?.find(({ type }) => type === 'work:landed' || type === 'work:conflicted');
            const handed = events?.find(({ type }) => type === 'work:submitted');
            const isJudged = command.type === 'task.complete' && command.work?.landingId !== undefined;
            const isApproved = command.type === 'request.answer' && command.approve;
            const hasLanded = (isJudged || isApproved) && landed;
            expect(Boolean(hasLanded) || (handed?.type === 'work:submitted' && handed.files === 0)).toBe(true);
          }
        });
      }),
      tries(20),
    );
  });

  test('makes a branch without gaps, and no work lands twice', () => {
    fc.assert(
      fc.property(stories, (story) => {
        let tip = WORK.base;
        const landed = new Set<string>();
        walk(story, (_before, _command, events, after) => {
          for (const event of events ?? []) {
            if (event.type === 'work:lost') tip = event.to;
            if (event.type === 'tip:moved') {
              expect(event.from).toBe(tip);
              tip = event.to;
              // What was judged was merged onto another tip.
              expect(after.team?.work?.landing).toBeUndefined();
            }
            if (event.type !== 'work:landed') continue;
            expect(event.onto).toBe(tip);
            tip = event.merged;
            const key = `${event.taskId}@${event.epoch}`;
            expect(landed.has(key)).toBe(false);
            landed.add(key);
          }
          expect(after.team?.work?.tip).toBe(tip);
        });
      }),
      tries(20),
    );
  });

  test('loses the work of a task that changes hands or ends', () => {
    fc.assert(
      fc.property(stories, (story) => {
        walk(story, (before, _command, _events, after) => {
          for (const id of before.team?.work?.queue ?? []) {
            const was = before.tasks.get(id);
            const now = after.tasks.get(id);
            const isSame =
              now?.status === 'in_progress' && now.assigneeId === was?.assigneeId && now.epoch === was?.epoch;
            if (!isSame) expect(after.team?.work?.queue).not.toContain(id);
          }
        });
      }),
      tries(20),
    );
  });

  test('is reached by random stories: works land together, are withdrawn, left and sent back', () => {
    const missing = new Set<TeamEvent['type'] | 'together'>([
      'work:submitted',
      'work:left',
      'work:withdrawn',
      'work:landed',
      'work:conflicted',
      'landing:ended',
      'together',
    ]);
    // A landing of two works is open at first: to get there by chance took most of the time. The stories end when all was
    // seen; a new command changes them, and then more may be needed.
    const begun = steps(60).map((story) => [...QUEUE, LANDING, ...story]);
    for (const story of draw(begun, { most: 10_000, seed: 1 })) {
      const together = new Map<string, number>();
      walk(story, (before, _command, events) => {
        for (const event of events ?? []) {
          missing.delete(event.type);
          if (event.type !== 'work:landed' || event.landingId === undefined) continue;
          const key = `${event.landingId} ${before.team?.work?.landing?.since}`;
          together.set(key, (together.get(key) ?? 0) + 1);
        }
      });
      if (Math.max(...together.values()) > 1) missing.delete('together');
      if (missing.size === 0) break;
    }
    expect([...missing]).toEqual([]);
  });
});

/** The events after which the work of a task is not in the queue as it was. */
const LEAVE: ReadonlySet<TeamEvent['type']> = new Set<TeamEvent['type']>([
  'work:begun',
  'work:submitted',
  'work:withdrawn',
  'work:landed',
  'work:conflicted',
  'task:rejected',
]);

function isApart(state: TeamState, taskId: string): boolean {
  const { status, assigneeId = '' } = state.tasks.get(taskId) ?? {};
  return status === 'in_progress' && state.members.get(assigneeId)?.workspace === 'own';
}
