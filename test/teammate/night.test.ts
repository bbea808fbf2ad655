import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { openHouse } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { tell } from '../proof.ts';
import { Refused, startMember } from './member.ts';
import type { Member, Play } from './member.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TASKS = 120;

/** The clock of the night goes on in these steps. */
const STEP = 5_000;

const EVENING = Date.parse('2026-03-02T22:00:00Z');

/** Who works on which account. */
const MEMBERS = {
  c1: 'claude',
  c2: 'claude',
  c3: 'claude',
  x1: 'codex',
  x2: 'codex',
  x3: 'codex',
  g1: 'gemini',
  g2: 'gemini',
};
type Name = keyof typeof MEMBERS;

/** What happens to the accounts in the night: from when to when a turn is refused, and what its provider says. */
const CLOSED = [
  { account: 'claude', trouble: 'limited', from: EVENING + HOUR, to: EVENING + 3 * HOUR, isNamed: true },
  { account: 'codex', trouble: 'overloaded', from: EVENING + 2 * HOUR, to: EVENING + 2.25 * HOUR, isNamed: false },
  { account: 'gemini', trouble: 'limited', from: EVENING + 2.25 * HOUR, to: EVENING + 3.25 * HOUR, isNamed: true },
] as const;

/** A member that rests for an hour of the night. */
const RESTS: Name = 'g2';
const REST = { from: EVENING + 0.5 * HOUR, to: EVENING + 1.25 * HOUR };

/** A member that goes on with another account while its own is limited. */
const SWITCHES: Name = 'c3';

/** Tasks whose first turn hangs, and tasks that ask their user. */
const HANG: ReadonlySet<string> = new Set(['17', '98']);
const ASK: ReadonlySet<string> = new Set(['30', '75']);

test(`in a night, 8 members do ${TASKS} tasks once each through limits, with a fallback, overload, hangs, a budget, questions, quiet hours and a restart`, async () => {
  vi.useFakeTimers({
    now: EVENING,
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  const journal = memoryJournal();
  let house = openHouse({ journal });
  await house.call('team.create', { name: 'demo', budget: { turns: 70 } });
  const agent = { kind: 'function' };
  const quietHours = `${clockAt(REST.from)}-${clockAt(REST.to)}`;
  for (const name of Object.keys(MEMBERS)) {
    // Its agent has a process. Only another machine may start that, since this test plays the member.
    const own = name === SWITCHES ? { agent: 'claude', host: 'other', onLimit: { fallback: ['codex'] } } : { agent };
    await house.call('member.add', { teamId: 'demo', name, ...own, ...(name === RESTS && { quietHours }) });
  }
  for (let i = 1; i <= TASKS; i++) {
    const needs = i > 8 && i % 3 === 0 ? { dependencies: [String(i - 8)] } : {};
    await house.call('task.create', { teamId: 'demo', title: `Item ${i}`, ...needs });
  }

  /** The turns that a model was asked for, and how it answered. */
  const asked: { name: Name; account: string; at: number; isRefused: boolean }[] = [];
  const hung = new Set<string>();
  /** The tasks whose work was done to its end. */
  const worked: string[] = [];
  const play =
    (name: Name, account: string): Play =>
    async ({ task, messages }, { emit, signal }) => {
      const now = Date.now();
      const closed = CLOSED.find((one) => one.account === account && now >= one.from && now < one.to);
      asked.push({ name, account, at: now, isRefused: closed !== undefined });
      if (closed) throw new Refused({ trouble: closed.trouble, ...(closed.isNamed && { resetsAt: closed.to }) });
      const id = task?.id ?? '';
      if (HANG.has(id) && !hung.has(id)) {
        hung.add(id);
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
      }
      const isAnswered = messages.some(({ content }) => content.includes('The answer: '));
      if (ASK.has(id) && !isAnswered) {
        await house.call('question.ask', { teamId: 'demo', content: `May I do ${id}?` }, name);
        return 'I wait for my user';
      }
      // Between 3 and 20 minutes of work, with a sign of life now and then.
      for (let minute = 0; minute < 3 + (Number(id) % 18); minute++) {
        await new Promise((resolve) => setTimeout(resolve, MINUTE));
        emit({ type: 'text', text: 'still at it' });
      }
      // A turn that was ended meanwhile has no result.
      if (task && !signal.aborted) worked.push(id);
      return `did ${id}`;
    };
  let members: Member[] = [];
  let switching = Promise.resolve();
  const begin = async (name: Name): Promise<void> => {
    const { agent: now } = await house.call<{ agent: { kind: string } }>('member.show', {
      teamId: 'demo',
      memberId: name,
    });
    const account = name === SWITCHES ? now.kind : MEMBERS[name];
    const more = name === SWITCHES ? { switches: true, fallbackAccounts: { codex: 'codex' } } : {};
    const member = startMember(house, name, play(name, account), { account, ...more });
    members.push(member);
    void member.ended.then((ending) => {
      if (ending === 'switched') switching = begin(name);
    });
  };
  const start = async (): Promise<void> => {
    members = [];
    for (const name of Object.keys(MEMBERS) as Name[]) await begin(name);
  };

  await start();
  let isRestarted = false;
  const answers = new Map<string, number>();
  const tasks = () => house.call<SharedTask[]>('task.list', { teamId: 'demo' });
  let all = await tasks();
  while (all.some(({ status }) => status !== 'completed') && Date.now() < EVENING + 24 * HOUR) {
    await pass(MINUTE);
    // While two accounts are limited.
    if (!isRestarted && Date.now() >= EVENING + 2.75 * HOUR) {
      isRestarted = true;
      await switching;
      for (const member of members) member.stop();
      await settle(Promise.all(members.map(({ ended }) => ended)));
      await settle(house.close());
      house = openHouse({ journal });
      await settle(house.start());
      await start();
    }
    await answerAll(house, answers);
    all = await tasks();
  }

  const events = await house.events('demo');
  const of = <T extends TeamEvent['type']>(type: T) =>
    events.filter((event) => event.type === type) as Extract<TeamEvent, { type: T }>[];
  expect(all.filter(({ status }) => status !== 'completed').map(({ id, status }) => `${id} ${status}`)).toEqual([]);
  expect(
    of('task:completed')
      .map(({ taskId }) => taskId)
      .toSorted(),
  ).toEqual(all.map(({ id }) => id).toSorted());
  expect(of('task:failed')).toEqual([]);
  for (const { id, result } of all) expect(result).toBe(`did ${id}`);
  expect(worked.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
  expect(of('teammate:stopped')).toEqual([]);
  for (const { account, from, to, isNamed } of CLOSED) {
    const asksOn = asked.filter((one) => one.account === account);
    const refused = asksOn.filter(({ at }) => at >= from && at < to);
    expect(refused.length, account).toBeGreaterThan(0);
    // Without a time, one member at a time tries again, less and less often.
    if (!isNamed) expect(refused.length, account).toBeLessThanOrEqual(8);
    // Else no turn begins once the team knows, except one that was let in just before.
    const known = of('account:changed').find((event) => event.account === account && event.limit)?.at ?? 0;
    if (isNamed) expect(refused.filter(({ at }) => at > known + STEP)).toEqual([]);
    for (const name of Object.keys(MEMBERS) as Name[]) {
      // The one with a fallback comes back when it has done the task that it holds.
      if (MEMBERS[name] !== account || name === SWITCHES || !isNamed) continue;
      const next = asksOn.find((one) => one.name === name && one.at >= to);
      expect((next?.at ?? Infinity) - to, name).toBeLessThanOrEqual(90_000);
    }
  }
  // One member went on while the others of its account waited, and was back after the reset.
  const [{ from, to }] = CLOSED;
  const its = asked.filter(({ name, at }) => name === SWITCHES && at > from);
  expect(its.filter(({ account, at }) => account === 'codex' && at < to - HOUR).length).toBeGreaterThan(0);
  expect(its.some(({ account, at }) => account === 'claude' && at >= to)).toBe(true);
  expect(of('teammate:switched').map(({ standIn }) => standIn?.name)).toEqual(['codex', undefined]);
  expect(asked.filter(({ name, at }) => name === RESTS && at >= REST.from && at < REST.to)).toEqual([]);
  const back = asked.find(({ name, at }) => name === RESTS && at >= REST.to);
  expect((back?.at ?? Infinity) - REST.to).toBeLessThanOrEqual(90_000);
  expect(hung).toEqual(HANG);
  const kinds = of('request:raised').map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'question')).toHaveLength(ASK.size);
  const [budget] = await house.call<{ requestedAt: string; answeredAt: string }[]>('request.list', {
    teamId: 'demo',
    kind: 'budget',
  });
  const [spent, raised] = [budget?.requestedAt, budget?.answeredAt].map((at) => new Date(at ?? '').getTime());
  expect(asked.filter(({ at }) => at > (spent as number) && at < (raised as number))).toEqual([]);
  expect(kinds.filter((kind) => kind === 'hang')).toEqual([]);
  expect(of('teammate:changed').filter(({ interrupted }) => interrupted !== undefined)).toHaveLength(HANG.size);
  const report = await house.call<{ wrong: { what: string }[] }>('team.report', { teamId: 'demo' });
  expect(new Set(report.wrong.map(({ what }) => what))).toEqual(new Set(['interrupted', 'limited', 'answered']));
  expect(members.flatMap(({ errors }) => errors)).toEqual([]);
  const { members: now } = await house.call<{ members: { metadata?: object }[] }>('team.show', { teamId: 'demo' });
  expect(now.flatMap(({ metadata = {} }) => Object.keys(metadata))).toEqual([]);
  tell({ nightTasks: all.length });
});

/** The time of day, in the time zone of this process. */
function clockAt(at: number): string {
  return new Date(at).toTimeString().slice(0, 5);
}

/** A person looks now and then, and says yes 10 minutes after it was asked. */
async function answerAll(house: House, answers: Map<string, number>): Promise<void> {
  const open = await house.call<TeamRequest[]>('request.list', { teamId: 'demo', status: 'pending' });
  for (const { id, kind } of open) {
    const since = answers.get(id) ?? Date.now();
    answers.set(id, since);
    if (Date.now() - since < 10 * MINUTE) continue;
    const said = kind === 'question' ? { feedback: 'Yes' } : {};
    await house.call('request.answer', { teamId: 'demo', requestId: id, approve: true, ...said });
  }
}

/** Lets time pass, some seconds at a time. In between, everything that can happen does. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP) {
    vi.advanceTimersByTime(STEP);
    for (let turn = 0; turn < 12; turn++) await nextTurn();
  }
}

/** Waits for something that needs a little time. */
async function settle(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  void work.finally(() => (isDone = true));
  while (!isDone) await pass(STEP);
  await work;
}
