import { describe, expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { until } from '../until.ts';
import { ask, startMember } from './member.ts';
import type { Member, MemberOptions } from './member.ts';

/**
 * A member's whole run: two tasks, and a message with the first. A gate rejects the second task once. The test decides
 * what happens at the `at`th call.
 */
async function live(
  at: number,
  mishap: (life: Life, next: () => Promise<unknown>) => Promise<unknown>,
  options: MemberOptions = {},
): Promise<Life> {
  const house = await openTeam(['ada', 'bob']);
  const { create, send } = ask(house);
  await create('First');
  await create('Second', { dependencies: ['1'] });
  await send('ada', 'hello');
  let count = 0;
  const life: Life = { house, ...ask(house), member: undefined as never, names: [], turnsAtMishap: undefined };
  const member = startMember(house, 'ada', (turn) => `did ${turn.task?.title} ${turn.feedback ?? ''}`.trim(), {
    ...options,
    onCall: async (name, next) => {
      life.names.push(name);
      if (++count !== at) return next();
      life.turnsAtMishap = life.member.turns.length;
      return mishap(life, next);
    },
  });
  // A gate: the result of the second task must contain the gate's feedback.
  member.rules.set('task.complete', async (next, input) => {
    const { taskId, result } = input as { taskId: string; result: string };
    const { status } = await ask(house).task(taskId);
    if (taskId !== '2' || result.includes('better') || status !== 'in_progress') return next();
    const reject = { type: 'task.reject', by: '@system', taskId, feedback: 'better' } as const;
    await house.services.ledger.execute('demo', reject, () => undefined);
    throw new TeamError('gate_rejected', 'better');
  });
  Object.assign(life, { member });
  return life;
}

interface Life extends Omit<ReturnType<typeof ask>, 'member'> {
  readonly house: House;
  readonly member: Member;
  readonly names: OperationName[];
  turnsAtMishap: number | undefined;
}

const isIdle = async ({ house }: Life): Promise<boolean> => (await ask(house).member('ada')).status === 'idle';

/** The number of calls of a run without a mishap. */
async function countCalls(): Promise<number> {
  const life = await live(0, async (_life, next) => next());
  await until('it rests', () => isIdle(life));
  expect(life.member.turns.map(({ task, feedback, messages }) => [task?.id, feedback, messages.length])).toEqual([
    ['1', undefined, 1],
    ['2', undefined, 0],
    ['2', 'better', 0],
  ]);
  return life.names.length;
}

/** Repeats a check with a mishap at every call of a run. */
async function atEveryCall(check: (at: number) => Promise<void>): Promise<void> {
  const calls = await countCalls();
  await Promise.all(Array.from({ length: calls }, (_, i) => check(i + 1)));
}

describe('at every call of a run', () => {
  test.each([
    ['before it was done', true],
    ['after it was done', false],
  ])('the journal may be unreachable, %s: nothing is done twice, nothing is lost', async (_when, before) => {
    await atEveryCall(async (at) => {
      const life = await live(at, async (_life, next) => {
        if (!before) await next();
        throw new TeamError('storage', 'No server answers');
      });
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      await until(`it rests: ${context()}`, () => isIdle(life));
      expect(await life.count('completed'), context()).toBe(2);
      expect(
        life.member.turns.map(({ task, feedback }) => [task?.id, feedback]),
        context(),
      ).toEqual([
        ['1', undefined],
        ['2', undefined],
        ['2', 'better'],
      ]);
      const shown = life.member.turns.flatMap(({ messages }) => messages);
      expect(shown, context()).toMatchObject([{ content: 'hello', redeliveries: 0 }]);
      const usage = await life.house.call<{ members: Record<string, { turns: number }> }>('usage.show', {
        teamId: 'demo',
      });
      expect(usage.members['ada']?.turns, context()).toBe(3);
    });
  });

  test('the member may be stopped: no turn begins after that, and its task is released', async () => {
    await atEveryCall(async (at) => {
      const life = await live(at, async ({ member }, next) => {
        member.stop();
        return next();
      });
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      expect(await life.member.ended, context()).toBe('stopped');
      expect(life.member.turns.length, context()).toBe(life.turnsAtMishap);
      expect(await life.count('in_progress'), context()).toBe(0);
      expect(await life.count('failed'), context()).toBe(0);
    });
  });

  test('the member may be stopped while it waits for the journal or the disk: no task fails', async () => {
    await atEveryCall(async (at) => {
      const life = await live(at, async ({ member }) => {
        member.stop();
        throw new TeamError('storage', 'The disk is full');
      });
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      // Without its team or its mail it cannot even begin.
      await life.member.ended.catch((error: unknown) => expect(error, context()).toMatchObject({ code: 'storage' }));
      expect(life.member.turns.length, context()).toBe(life.turnsAtMishap);
      expect(await life.count('in_progress'), context()).toBe(0);
      expect(await life.count('failed'), context()).toBe(0);
    });
  });

  test('the member may be asked to shut down: it finishes its work, agrees, and holds nothing', async () => {
    await atEveryCall(async (at) => {
      const life = await live(at, async ({ house }, next) => {
        await house.call('shutdown.request', { teamId: 'demo', memberId: 'ada' });
        return next();
      });
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      expect(await life.member.ended, context()).toBe('shutdown');
      expect(await life.count('in_progress'), context()).toBe(0);
      expect(await life.count('failed'), context()).toBe(0);
    });
  });

  test('its task may be reassigned: no turn on it begins after that, and it goes on with the next', async () => {
    await atEveryCall(async (at) => {
      let taken = '';
      const life = await live(at, async ({ house, count }, next) => {
        if ((await count('in_progress')) === 0) return next();
        const [task] = await house.call<{ id: string }[]>('task.list', { teamId: 'demo', status: 'in_progress' });
        taken = task?.id ?? '';
        await house.call('task.assign', { teamId: 'demo', taskId: taken, assigneeId: 'bob' });
        return next();
      });
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      await until(`it rests: ${context()}`, () => isIdle(life));
      if (taken === '') return;
      const later = life.member.turns.slice(life.turnsAtMishap);
      expect(
        later.filter(({ task }) => task?.id === taken),
        context(),
      ).toEqual([]);
      expect(await life.task(taken), context()).toMatchObject({ status: 'pending', assigneeId: 'bob' });
    });
  });

  test('its team may be closed: the run ends', async () => {
    await atEveryCall(async (at) => {
      const life = await live(at, async ({ house }, next) => {
        await house.call('team.close', { teamId: 'demo', force: true });
        return next();
      });
      expect(await life.member.ended, `call ${at}, ${life.names[at - 1]}`).toBe('over');
      expect(life.member.turns.length).toBe(life.turnsAtMishap);
    });
  });

  test('its agent may die: the task is not failed, and no more calls are made in its name', async () => {
    await atEveryCall(async (at) => {
      const gone = Promise.withResolvers<string>();
      const life = await live(
        at,
        async (_life, next) => {
          gone.resolve('it died');
          return next();
        },
        { live: { gone: gone.promise } },
      );
      const context = () => `call ${at}, ${life.names[at - 1]}`;
      expect(await life.member.ended, context()).toBe('crashed');
      const { calls } = life.member;
      const after = calls.length;
      // After everything that was under way.
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      expect(calls.slice(after), context()).toEqual([]);
      expect(await life.count('failed'), context()).toBe(0);
    });
  });
});
