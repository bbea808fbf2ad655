import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../../src/agents/agent.ts';
import { TeamError } from '../../src/core/errors.ts';
import { rejoinInput } from '../../src/core/rejoin.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HANG_MS, until } from '../until.ts';
import { ask, holding, startMember } from './member.ts';

const did = ({ task }: Turn): string => `did ${task?.title ?? 'mail'}`;

test('an agent that keeps the credential of its tools is resumed with a new one before its next turn', async () => {
  const house = await openTeam(['ada']);
  const { create, task } = ask(house);
  const stdio = { command: 'none', args: [], env: {} };
  let token = 'old';
  const toolsNow = () => ({
    name: 'troupe',
    http: { url: 'http://localhost', headers: { authorization: token } },
    stdio,
  });
  const ada = startMember(house, 'ada', did, { toolsNow, live: { holdsTools: true } });
  await create('One');
  await until('the first is done', async () => (await task('1')).status === 'completed');
  token = 'new';
  await create('Two');
  await until('the second is done', async () => (await task('2')).status === 'completed');
  await create('Three');
  await until('the third is done', async () => (await task('3')).status === 'completed');
  expect(
    ada.sessions.map(({ tools, resume }) => [tools?.http?.headers['authorization'], resume !== undefined]),
  ).toEqual([
    ['old', false],
    ['new', true],
  ]);
});

test('a member whose credential is refused ends, so that its next process gets another one', async () => {
  const house = await openTeam(['ada']);
  const { create, member } = ask(house);
  const ada = startMember(house, 'ada', did);
  await until('it rests', async () => (await member('ada')).status === 'idle');
  ada.rules.set('task.claim', () => Promise.reject(new TeamError('unauthenticated', 'not valid')));
  await create('One');
  await expect(ada.ended).rejects.toMatchObject({ code: 'unauthenticated' });
});

describe('a message', () => {
  const texts = ({ messages }: Turn) => messages.map(({ content, redeliveries }) => [content, redeliveries]);

  test('whose turn failed is shown once more, marked; then not again', async () => {
    const house = await openTeam(['ada']);
    const { send, member } = ask(house);
    const ada = startMember(house, 'ada', () => Promise.reject(new Error('no')));
    await send('ada', 'one');
    await until('it was shown twice', () => ada.turns.length === 2);
    await until('it rests', async () => (await member('ada')).status === 'idle');
    await send('ada', 'two');
    await until('the next was shown twice', () => ada.turns.length === 4);
    expect(ada.turns.map(texts)).toEqual([[['one', 0]], [['one', 1]], [['two', 0]], [['two', 1]]]);
  });

  test('that joined a turn which ended before it was read is shown once more, marked', async () => {
    const house = await openTeam(['ada']);
    const { create, send } = ask(house);
    const first = holding();
    const joined = Promise.withResolvers<void>();
    const ada = startMember(house, 'ada', (turn, stage) => (stage.count === 1 ? first.play(turn, stage) : did(turn)), {
      abilities: { steer: true },
      live: { steer: async () => (joined.resolve(), true) },
    });
    await create('One');
    await first.begun;
    await send('ada', 'hurry', { priority: 'urgent' });
    await joined.promise;
    first.letGo();
    await until('it was shown in a turn', () => ada.turns.length === 2);
    expect(ada.turns.map(texts)).toEqual([[], [['hurry', 1]]]);
  });
});

describe('work', () => {
  test('is done one task after another, with waiting messages in order; then the member is idle and reports', async () => {
    const house = await openTeam(['ada']);
    const { create, send, task, events, member } = ask(house);
    const first = holding();
    const ada = startMember(house, 'ada', (turn, stage) => (stage.count === 1 ? first.play(turn, stage) : did(turn)));
    await create('One');
    await create('Two', { dependencies: ['1'] });
    await first.begun;
    for (const [text, more] of [['first'], ['second', { priority: 'urgent' }], ['third']] as const) {
      await send('ada', text, more);
    }
    first.letGo('did One');
    await until('it rests', async () => (await member('ada')).status === 'idle');
    expect(ada.turns.map((turn) => [turn.task?.id, turn.messages.map(({ content }) => content)])).toEqual([
      ['1', []],
      ['2', ['first', 'second', 'third']],
    ]);
    expect([(await task('1')).result, (await task('2')).result]).toEqual(['did One', 'did Two']);
    expect((await events('teammate:idle')).map(({ result }) => result).at(-1)).toBe('did Two');
    const inbox = await house.call<{ readAt?: Date }[]>('message.inbox', { teamId: 'demo', memberId: 'ada' });
    expect(inbox.every(({ readAt }) => readAt !== undefined)).toBe(true);
    await send('ada', 'fourth');
    await until('mail alone wakes it', () => ada.turns.length === 3);
    expect(ada.turns[2]).toMatchObject({ task: undefined, messages: [{ content: 'fourth' }] });
  });

  test('that fails is marked as failed with the reason, and the next is taken', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    startMember(house, 'ada', (turn) => {
      if (turn.task?.title === 'Bad') throw new Error('full of cats');
      return did(turn);
    });
    await create('Bad');
    await create('Good');
    await until('the other is done', async () => (await task('2')).status === 'completed');
    expect(await task('1')).toMatchObject({ status: 'failed', failure: 'full of cats' });
  });

  test('that the agent ended through its own tools stays as it is', async () => {
    const house = await openTeam(['ada']);
    const { create, task, member } = ask(house);
    startMember(house, 'ada', async () => {
      await house.call('task.complete', { teamId: 'demo', taskId: '1', result: 'by hand' }, 'ada');
      return 'and this is only a comment';
    });
    await create('One');
    await until('it rests', async () => (await member('ada')).status === 'idle' && (await task('1')).result);
    expect((await task('1')).result).toBe('by hand');
  });

  test.each([
    ['given to another', 'task.assign', { assigneeId: 'bob' }],
    ['deleted', 'task.delete', {}],
  ] as const)(
    'that is %s in the middle of a turn: the turn ends, and the member goes on',
    async (_what, name, more) => {
      const house = await openTeam(['ada', 'bob']);
      const { create, task } = ask(house);
      const work = holding();
      const ada = startMember(house, 'ada', (turn, stage) =>
        turn.task?.id === '1' ? work.play(turn, stage) : did(turn),
      );
      await create('Long');
      await work.begun;
      await house.call(name, { teamId: 'demo', taskId: '1', ...more });
      await create('Next');
      await until('the next is done', async () => (await task('2')).status === 'completed');
      expect(ada.errors).toEqual([]);
      ada.stop();
      expect(await ada.ended).toBe('stopped');
    },
  );

  test('whose result cannot be recorded is failed with the reason, so that no task is held without work', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const ada = startMember(house, 'ada', did);
    ada.rules.set('task.complete', async () => {
      throw new TeamError('internal', 'a defect of ours');
    });
    await create('One');
    await until('it is failed', async () => (await task('1')).status === 'failed');
    expect(await task('1')).toMatchObject({ failure: 'It could not continue: a defect of ours' });
    ada.rules.clear();
    await create('Two');
    await until('it goes on', async () => (await task('2')).status === 'completed');
  });
});

describe('a gate', () => {
  test('that rejects work gets a better second try under the same claim', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    await judge(house, (mark) => `test -e ${mark} || { touch ${mark}; echo try harder >&2; exit 2; }`);
    const ada = startMember(house, 'ada', did);
    await create('Judged');
    await until('it passes', async () => (await task('1')).status === 'completed');
    expect(await task('1')).toMatchObject({ rejections: 1, epoch: 1 });
    expect(ada.turns.map(({ feedback, task: given }) => [feedback, given?.epoch])).toEqual([
      [undefined, 1],
      ['try harder', 1],
    ]);
    expect(ada.turns[1]?.text).toContain('Your work on it was sent back. What has to change:\n\ntry harder');
  });

  test.each([
    ['yes completes it as it is', true],
    ['no gives it back to be done again', false],
  ])(
    'that rejects it five times asks a person: %s, and an agent that leads gets the result',
    async (_what, approve) => {
      const house = await openTeam(['ada']);
      const { create, task, member } = ask(house);
      const open = await judge(house, (mark) => `test -e ${mark} || { echo never good enough >&2; exit 2; }`);
      const lead = startMember(house, 'lead', () => 'heard');
      const ada = startMember(house, 'ada', did);
      await until('the lead was told its goal', async () => (await member('lead')).status === 'idle');
      await create('Judged');
      const request = await until('a person is asked', async () => {
        const [found] = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'gate' });
        return found;
      });
      await until('it rests', async () => (await member('ada')).status === 'idle');
      expect(ada.turns).toHaveLength(5);
      expect(await task('1')).toMatchObject({ status: 'in_progress', rejections: 5 });
      const heard = lead.turns.length;
      await open();
      const answer = approve ? { approve } : { approve, feedback: 'mind the tests' };
      await house.call('request.answer', { teamId: 'demo', requestId: request.id, ...answer });
      await until('it is completed', async () => (await task('1')).status === 'completed');
      expect(ada.turns).toHaveLength(approve ? 5 : 6);
      if (!approve) expect(ada.turns[5]?.text).toContain('was sent back. What has to change:\n\nmind the tests');
      const settled = 'Tasks: 1 completed, 0 in progress, 0 to do, 0 failed.';
      await until('the lead heard', () => lead.turns.slice(heard).some(({ digest }) => digest?.includes(settled)));
    },
  );

  test('on going idle keeps a member at work three times in a row', async () => {
    const house = await openTeam(['ada']);
    const { create, member } = ask(house);
    await house.call('hook.register', { teamId: 'demo', type: 'TeammateIdle', command: 'echo look again >&2; exit 2' });
    await create('One');
    const ada = startMember(house, 'ada', did);
    await until('it rests', async () => (await member('ada')).status === 'idle');
    const said = ada.turns.flatMap(({ messages }) => messages.map(({ content }) => content));
    expect(said).toEqual(['look again', 'look again', 'look again']);
  });

  /** Registers a gate; the returned function makes the file that its script looks for. */
  async function judge(house: House, script: (mark: string) => string): Promise<() => Promise<void>> {
    const mark = join(temporaryFolder(), 'mark');
    const command = script(mark);
    await house.call('hook.register', { teamId: 'demo', type: 'TaskCompleted', command });
    return () => writeFile(mark, '');
  }
});

describe('a member that must stop', () => {
  test('in the middle of a turn ends the turn and releases the task', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const work = holding();
    const ada = startMember(house, 'ada', work.play);
    await create('Long');
    await work.begun;
    ada.stop();
    expect(await ada.ended).toBe('stopped');
    expect(await task('1')).toMatchObject({ status: 'pending', epoch: 2 });
  });

  test('by the record of the team ends it, even if the member is back at once: another process runs it then', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    await create('First');
    const work = holding();
    const member = startMember(house, 'ada', work.play);
    await work.begun;
    const { ledger } = house.services;
    const { epoch } = await task('1');
    const join = await ledger.view('demo', ({ members }) => rejoinInput(members.get('ada') as MemberRecord));
    const left = { type: 'member.leave', by: '@system', memberId: 'ada', returning: true } as const;
    await ledger.execute('demo', [left, { type: 'member.join', by: '@system', ...join }], () => undefined);
    expect(await member.ended).toBe('over');
    expect(await task('1')).toMatchObject({ status: 'pending', epoch: epoch + 1 });
  });

  test('ends even if the journal is unreachable', async () => {
    const house = await openTeam(['ada']);
    const work = holding();
    let isAway = false;
    const ada = startMember(house, 'ada', work.play, {
      onCall: (_name, next) => (isAway ? Promise.reject(new TeamError('storage', 'No server answers')) : next()),
    });
    await ask(house).create('Long');
    await work.begun;
    isAway = true;
    ada.stop();
    expect(await ada.ended).toBe('stopped');
  });

  test('finishes its work when it is asked to shut down, and then agrees', async () => {
    const house = await openTeam(['ada']);
    const { create, task, events } = ask(house);
    const work = holding();
    const ada = startMember(house, 'ada', work.play);
    await create('Finish me');
    await create('Not this one');
    await work.begun;
    await house.call('shutdown.request', { teamId: 'demo', memberId: 'ada', reason: 'that is all' });
    work.letGo('finished');
    expect(await ada.ended).toBe('shutdown');
    expect([(await task('1')).status, (await task('2')).status]).toEqual(['completed', 'pending']);
    expect(await events('shutdown:approved')).toHaveLength(1);
  });

  test('may refuse with a reason, and goes on', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const reasons: string[] = [];
    const live = {
      askToStop: async (reason: string) => {
        reasons.push(reason);
        return { agreed: reasons.length > 1, reason: 'not yet' };
      },
    };
    const ada = startMember(house, 'ada', did, { live });
    const stop = () =>
      house.call<TeamRequest>('shutdown.request', { teamId: 'demo', memberId: 'ada', reason: 'enough' });
    const { id } = await stop();
    const refused = await until('it refuses', async () => {
      const requests = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', status: 'rejected' });
      return requests.find((request) => request.id === id);
    });
    expect(refused.feedback).toBe('not yet');
    await create('One');
    await until('it goes on', async () => (await task('1')).status === 'completed');
    await stop();
    expect(await ada.ended).toBe('shutdown');
    expect(reasons).toEqual(['enough', 'enough']);
  });

  describe('whose agent has the tools of its team', () => {
    const toolsNow = () => ({ name: 'troupe', stdio: { command: 'none', args: [], env: {} } });
    /** An agent that answers a shutdown request as told, and the texts it got. */
    const start = async (answer: (house: House, id: string) => Promise<unknown>) => {
      const house = await openTeam(['ada']);
      const ada = startMember(
        house,
        'ada',
        async ({ text }) => {
          const id = /"request_id":"([^"]+)"/.exec(text)?.[1];
          if (id !== undefined) await answer(house, id);
          return 'well';
        },
        { toolsNow },
      );
      const stop = (within?: number) =>
        house.call<TeamRequest>('shutdown.request', {
          teamId: 'demo',
          memberId: 'ada',
          reason: 'enough',
          ...(within !== undefined && { within }),
        });
      return { house, ada, stop };
    };

    test('asks it before it shuts down: its refusal counts, with its reason', async () => {
      let isBusy = true;
      const { house, ada, stop } = await start(async (at, requestId) => {
        if (isBusy) await at.call('shutdown.reject', { teamId: 'demo', requestId, feedback: 'I am not done' }, 'ada');
      });
      const { id } = await stop(60_000);
      await until('it refuses', async () => {
        const requests = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'shutdown' });
        return requests.some((one) => one.id === id && one.feedback === 'I am not done' && one.status === 'rejected');
      });
      expect(ada.turns[0]?.text).toContain('You are asked to shut down: enough\n');
      expect(ada.turns[0]?.text).toMatch(/Without an answer by \d{4}-.*Z you are shut down\.$/);
      isBusy = false;
      await stop(60_000);
      expect(await ada.ended).toBe('shutdown');
      expect(ada.turns).toHaveLength(2);
    });

    test('takes its agreement, also one that it gave with its tool, and asks nothing without a deadline', async () => {
      const agreed = await start((at, requestId) => at.call('shutdown.approve', { teamId: 'demo', requestId }, 'ada'));
      await agreed.stop(60_000);
      expect(await agreed.ada.ended).toBe('shutdown');
      expect(await ask(agreed.house).events('shutdown:approved')).toHaveLength(1);
      const unasked = await start(async () => undefined);
      await unasked.stop();
      expect(await unasked.ada.ended).toBe('shutdown');
      expect(unasked.ada.turns).toEqual([]);
    });
  });

  test('no longer follows its team after its end', async () => {
    const house = await openTeam(['ada']);
    let following = 0;
    const { ledger } = house.services;
    const follow = ledger.follow.bind(ledger);
    ledger.follow = async function* (...args) {
      following++;
      try {
        yield* follow(...args);
      } finally {
        following--;
      }
    };
    const ada = startMember(house, 'ada', did);
    await until('it follows its team', () => following === 1);
    await house.call('shutdown.request', { teamId: 'demo', memberId: 'ada' });
    expect(await ada.ended).toBe('shutdown');
    await until('it no longer does', () => following === 0);
  });
});

describe('an agent', () => {
  test('that dies in the middle of a turn ends its member; the task does not fail', async () => {
    const house = await openTeam(['ada']);
    const { create, task } = ask(house);
    const gone = Promise.withResolvers<string>();
    const work = holding();
    const ada = startMember(house, 'ada', work.play, { live: { gone: gone.promise } });
    await create('Long');
    await work.begun;
    gone.resolve('it died');
    // As with agents whose program is gone: the running turn fails and says so.
    work.letGo();
    expect(await ada.ended).toBe('crashed');
    expect((await task('1')).status).not.toBe('failed');
  });

  test('that is overloaded is retried after a visible pause, with the same messages', async () => {
    const house = await openTeam(['ada']);
    const { create, send, task, events } = ask(house);
    await send('ada', 'hello');
    const ada = startMember(
      house,
      'ada',
      (turn, { count }) => {
        if (count < 3) throw new TeamError('overloaded', '529 overloaded');
        return did(turn);
      },
      { retryAfter: () => 50 },
    );
    await create('One');
    await until('it is done', async () => (await task('1')).status === 'completed');
    expect(ada.turns.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    const waits = (await events('teammate:changed')).flatMap(({ metadata }) =>
      metadata && 'waiting' in metadata ? [metadata['waiting']] : [],
    );
    const waiting = { reason: 'overloaded', account: 'function@ada', known: false };
    const isLimit = (wait: unknown) => (wait as { account?: string } | null)?.account !== undefined;
    expect(waits.filter(isLimit)).toMatchObject([waiting, waiting]);
    expect(waits).toContain(null);
  });

  test('that stays overloaded never fails its task', async () => {
    const house = await openTeam(['ada']);
    const { create, task, events } = ask(house);
    const ada = startMember(
      house,
      'ada',
      (turn, { count }) => {
        if (count < 8) throw new TeamError('overloaded', '529 overloaded');
        return did(turn);
      },
      { retryAfter: () => 1 },
    );
    await create('One');
    await until('it is done', async () => (await task('1')).status === 'completed');
    expect(ada.turns).toHaveLength(8);
    const limits = (await events('account:changed')).map(({ limit }) => limit?.tries);
    expect(limits).toEqual([1, 2, 3, 4, 5, 6, 7, undefined]);
  });

  test('that waits for its model loses its task at once when it is reassigned', async () => {
    const house = await openTeam(['ada', 'bob']);
    const { create, task, member } = ask(house);
    const ada = startMember(
      house,
      'ada',
      (turn) => {
        if (turn.task?.id === '1') throw new TeamError('overloaded', '529 overloaded');
        return did(turn);
      },
      { retryAfter: () => 10 * HANG_MS },
    );
    await create('One');
    await until('it waits', async () => (await member('ada')).metadata?.['waiting']);
    await house.call('task.assign', { teamId: 'demo', taskId: '1', assigneeId: 'bob' });
    // Its pause would outlast the test.
    await until('it holds nothing', async () => (await member('ada')).status === 'idle');
    await create('Two');
    // It takes no work that it could not begin.
    await house.call('account.clear', { teamId: 'demo', account: 'function@ada' });
    await until('it does the next', async () => (await task('2')).status === 'completed');
    expect(ada.turns.map((turn) => turn.task?.id)).toEqual(['1', '2']);
  });
});

describe('urgent mail', () => {
  test('joins the running turn of an agent that supports it', async () => {
    const house = await openTeam(['ada']);
    const { create, send, task } = ask(house);
    const work = holding();
    const joined: string[] = [];
    const live = {
      steer: async ({ messages }: Turn) => {
        joined.push(...messages.map(({ content }) => content));
        return true;
      },
    };
    startMember(house, 'ada', work.play, { abilities: { steer: true }, live });
    await create('Long');
    await work.begun;
    await Promise.all(['one', 'two', 'three'].map((text) => send('ada', text, { priority: 'urgent' })));
    await until('it has all', () => joined.length === 3);
    work.letGo();
    await until('it is done', async () => (await task('1')).status === 'completed');
    expect(joined.toSorted()).toEqual(['one', 'three', 'two']);
  });

  test('that comes too late to join gets its own turn, whose end does not end the next task', async () => {
    const house = await openTeam(['ada']);
    const { create, send, task } = ask(house);
    const work = holding();
    // The turn ends while the message is on its way.
    const live = {
      steer: async () => {
        work.letGo('did Long');
        return false;
      },
    };
    const ada = startMember(
      house,
      'ada',
      (turn, stage) => (turn.task?.id === '1' ? work.play(turn, stage) : did(turn)),
      {
        abilities: { steer: true },
        live,
      },
    );
    await create('Long');
    await create('Next');
    await work.begun;
    await send('ada', 'hurry', { priority: 'urgent' });
    await until('both are done', async () => (await task('2')).status === 'completed');
    expect([(await task('1')).result, (await task('2')).result]).toEqual(['did Long', 'did Next']);
    expect(ada.turns.map((turn) => [turn.task?.id, turn.messages.length])).toEqual([
      ['1', 0],
      [undefined, 1],
      ['2', 0],
    ]);
    const usage = await house.call<{ members: Record<string, { turns: number }> }>('usage.show', { teamId: 'demo' });
    expect(usage.members['ada']?.turns).toBe(3);
  });
});
