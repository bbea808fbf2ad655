import { describe, expect, test } from 'vitest';
import { wordEvent } from '../../src/core/event-words.ts';
import type { EventData, EventOf, EventType, TeamEvent } from '../../src/core/event.ts';
import { rowOf, taskLetGo, taskRowOf } from '../../src/core/events/table.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { EVENTS } from '../samples/events.ts';
import { commit } from '../samples/work.ts';

const ALL: readonly string[] = ['ann', 'bob'];
const NOBODY: readonly string[] = [];

/** Each sample as one line, and which of ann and bob it wakes. A new event does not compile before it is here. */
const TOLD: { readonly [T in EventType]: readonly [line: string, wakes: readonly string[]] } = {
  'team:created': ['lead created the team alpha, led by lead', NOBODY],
  'team:updated': ['lead changed the team', ALL],
  'team:closed': ['lead closed the team [notable]', ALL],
  'hook:registered': ['lead registered a TaskCompleted hook: npm test', NOBODY],
  'hook:removed': ['lead removed the TeammateIdle hooks', NOBODY],
  'teammate:joined': ['lead added bob, r [good]', ALL],
  'teammate:changed': ['ann is idle [quiet]', NOBODY],
  'teammate:switched': ['ann goes on with codex: claude cannot be used now [notable]', NOBODY],
  'teammate:placed': ['lead starts ann on h1 [quiet]', NOBODY],
  'teammate:idle': ['ann is idle [quiet]', NOBODY],
  'teammate:stopped': ['ann stopped: tired [bad]', ['ann']],
  'task:created': ['lead added task #2: t', ALL],
  'task:updated': ['lead changed #1', ALL],
  'task:assigned': ['lead made #1 free for anybody', ALL],
  'task:claimed': ['ann claimed #1 [notable]', NOBODY],
  'task:renewed': ['ann still works on #1', NOBODY],
  'task:released': ['ann gave #1 back', ALL],
  'task:rejected': ['lead sent #1 back [notable] "again"', NOBODY],
  'task:completed': ['lead completed #1 [good] "r"', NOBODY],
  'task:failed': ['lead failed #1: no [bad]', NOBODY],
  'task:reopened': ['lead reopened #1: again', ALL],
  'task:deleted': ['lead deleted #1', ALL],
  'task:unblocked': ['#1 is now ready [notable]', ALL],
  'task:dependencies-added': ['lead made #1 wait for #2', NOBODY],
  'task:dependencies-removed': ['lead let #1 no longer wait for #2', NOBODY],
  'work:begun': ['ann begins #1 from 1111111 [quiet]', NOBODY],
  'work:submitted': ['ann handed in 1 file (+2 -0) for #1 [quiet]', NOBODY],
  'work:left': ['#1 stays in the merge queue without its holder', NOBODY],
  'work:withdrawn': ['#1 left the merge queue: the task was released', NOBODY],
  'work:asked': ['#1 is accepted by the gates, and waits for its approval', NOBODY],
  'work:approved': ['#1 is approved, and takes its place in the merge queue', NOBODY],
  'work:landed': ['#1 landed as 3333333 [good]', NOBODY],
  'work:conflicted': ['#1 conflicts with work that landed before: a.txt [bad]', NOBODY],
  'work:overlapped': ['ann (#1) and bob (#2) change the same file: a.txt [notable]', NOBODY],
  'work:lost': ['the branch went back to 1111111 and lost #1: it was removed [bad]', NOBODY],
  'work:kept': ['ann left work that is not on the branch; 2222222 keeps it: no task [notable]', NOBODY],
  'landing:begun': ['the merge queue lands #1 onto 1111111 [quiet]', NOBODY],
  'landing:ended': ['the merge queue sends the work back: the tests fail', NOBODY],
  'tip:moved': ['lead added commits to the branch: 1111111 to 5555555 [notable]', NOBODY],
  'tip:refused': [
    'the branch was moved to 5555555, which does not descend from it, and was put back: refs/deleted/alpha/1 keeps that commit [bad]',
    NOBODY,
  ],
  'message:sent': ['lead wrote to ann, lead [bad] "x"', ['ann']],
  'message:delivered': ['ann received 1 message [quiet]', NOBODY],
  'message:acknowledged': ['ann acknowledged 1 message [quiet]', NOBODY],
  'message:read': ['ann read 1 message [quiet]', NOBODY],
  'shutdown:requested': ['lead asked ann to stop: done [notable]', ['ann']],
  'shutdown:approved': ['ann agreed to stop', NOBODY],
  'shutdown:rejected': ['ann refused to stop: no [notable]', NOBODY],
  'plan:submitted': ['ann submitted a plan [notable] "plan"', ['ann']],
  'plan:approved': ['lead approved the plan of ann: good [good]', ['ann']],
  'plan:rejected': ['lead sent back the plan of ann: bad [bad]', ['ann']],
  'request:raised': ['ann waits for a person (permission) [notable] "May I?"', NOBODY],
  'request:answered': ['lead said no to ann', NOBODY],
  'note:added': ['lead noted "x"', NOBODY],
  'note:updated': ['lead changed note 1', NOBODY],
  'note:removed': ['lead removed note 1', NOBODY],
  'account:changed': [
    expect.stringMatching(/^the account is limited until 2255-.*: used up \[notable\]$/) as string,
    ALL,
  ],
  'usage:recorded': ['ann did a turn [quiet]', NOBODY],
};

const TYPES = Object.keys(TOLD) as EventType[];
const WORKS = ['1', '2'].map((taskId) => ({ taskId, epoch: 1, commit: commit(2) }));

/** The sample of a type with other data. */
function sample<T extends EventType>(type: T, data: Partial<EventData[T]> = {}, by = 'lead'): EventOf<T> {
  return { type, at: 1_800_000_000_000, by, ...EVENTS[type], ...data } as unknown as EventOf<T>;
}

function lineOf(event: TeamEvent): string {
  const { actor, text, reason, content, tone } = wordEvent(event);
  const more = [reason && `: ${reason}`, tone && ` [${tone}]`, content && ` "${content}"`];
  return `${actor} ${text}${more.filter(Boolean).join('')}`;
}

const line = <T extends EventType>(...about: Parameters<typeof sample<T>>): string =>
  lineOf(sample(...about) as unknown as TeamEvent);

const woken = (event: unknown): string[] =>
  ALL.filter((id) => rowOf(event as TeamEvent)?.wakes(event as TeamEvent, id));

describe('an event', () => {
  test.each(TYPES)('%s is told in one line, and wakes whom it may concern', (type) => {
    expect([line(type), woken(sample(type))]).toEqual(TOLD[type]);
  });

  test.each(['task:merged', 'constructor', '__proto__'])(
    '%s of a newer daemon has its name for a line, and no row',
    (type) => {
      const event = { type, at: 1, by: 'lead' } as unknown as TeamEvent;
      expect(lineOf(event)).toBe(`lead ${type} [quiet]`);
      expect([rowOf(event), taskRowOf(event.type)]).toEqual([undefined, undefined]);
    },
  );

  test('about a task says under which name the task list tells it, and whether its holder has it no longer', () => {
    const told = TYPES.flatMap((type) => {
      const row = taskRowOf(type);
      const isLetGo = taskLetGo(sample(type) as unknown as TeamEvent) !== undefined;
      return row || isLetGo ? [`${type} as ${row?.told}${isLetGo ? ', lets go' : ''}`] : [];
    });
    expect(told).toEqual([
      'task:created as task:created',
      'task:updated as task:updated',
      'task:assigned as task:updated, lets go',
      'task:claimed as task:claimed',
      'task:renewed as task:updated',
      'task:released as task:released, lets go',
      'task:rejected as task:updated',
      'task:completed as task:completed, lets go',
      'task:failed as task:failed, lets go',
      'task:reopened as task:updated, lets go',
      'task:deleted as task:updated, lets go',
      'task:unblocked as task:unblocked',
      'task:dependencies-added as task:updated',
      'task:dependencies-removed as task:updated',
    ]);
  });

  test('names a task as its reader does', () => {
    const event = sample('task:claimed') as unknown as TeamEvent;
    expect(wordEvent(event, (id) => `"Write it" (${id})`).text).toBe('claimed "Write it" (1)');
  });
});

describe('the line of an event', () => {
  test.each([
    [line('team:updated', { leadId: 'bob' }), 'lead changed the team; bob leads it now'],
    [
      line('team:updated', {
        metadata: { 'hookTrouble TeammateIdle x': 'x fails', 'hookTrouble TaskCreated y': null },
      }),
      'lead says: x fails. The hook TaskCreated y works again [notable]',
    ],
  ])('of a change of the team: %s', (told, expected) => expect(told).toBe(expected));

  const changed = (data: Partial<EventData['teammate:changed']>): string =>
    line('teammate:changed', { status: undefined, metadata: undefined, ...data });

  test.each([
    [changed({ role: 'tests' }), 'lead changed ann [quiet]'],
    [changed({ interrupted: 'it was silent' }), 'ann was interrupted and does its turn again: it was silent [notable]'],
    [changed({ metadata: { waiting: { reason: 'a machine' } } }), 'ann waits: a machine [notable]'],
    [changed({ metadata: { waiting: { reason: 'no output', silentSince: 1 } } }), 'ann is silent: no output [notable]'],
    [changed({ metadata: { waiting: null } }), 'ann no longer waits [quiet]'],
    [line('teammate:switched', { agent: { kind: 'claude' }, standIn: undefined }), 'ann is back with claude [notable]'],
    [
      line('teammate:switched', {
        standIn: { name: 'codex', since: 1, own: { agent: { kind: 'claude' }, sessionId: 's' } },
      }),
      'ann goes on with codex [notable]',
    ],
  ])('of a change of a member: %s', (told, expected) => expect(told).toBe(expected));

  test.each([
    [line('task:dependencies-added', { dependencies: ['2', '3'] }), 'lead made #1 wait for #2, #3'],
    [line('task:updated', { unjudged: false }), 'lead let #1 pass'],
    [line('task:updated', { withheld: null }), 'lead made #1 free again'],
    [line('task:updated', { withheld: 'another owner' }), 'lead withholds #1: another owner'],
    [line('task:assigned', { assigneeId: 'bob' }), 'lead reserved #1 for bob'],
    [line('task:rejected', { gate: 'npm test' }, '@system'), 'the gate npm test sent #1 back [notable] "again"'],
    [line('task:rejected', {}, '@system'), 'a gate sent #1 back [notable] "again"'],
    [line('task:completed', { memberId: 'ann' }), 'ann completed #1 [good] "r"'],
  ])('about a task: %s', (told, expected) => expect(told).toBe(expected));

  test.each([
    [line('landing:begun', { works: WORKS }), 'the merge queue lands #1, #2 onto 1111111 [quiet]'],
    [
      line('work:lost', { works: WORKS.map((work) => ({ ...work, merged: commit(3) })) }),
      'the branch went back to 1111111 and lost #1, #2: it was removed [bad]',
    ],
    [line('work:submitted', { files: 0 }), 'ann changed nothing for #1 [quiet]'],
    [line('work:submitted', { files: 3 }), 'ann handed in 3 files (+2 -0) for #1 [quiet]'],
    [
      line('work:conflicted', { feedback: 'merge' }),
      '#1 conflicts with work that landed before, and goes back to its holder: a.txt [bad]',
    ],
    [
      line('work:overlapped', { files: 3, paths: ['a', 'b'], conflicts: ['b'] }),
      'ann (#1) and bob (#2) change the same files; b would conflict: a, b, and 1 more [bad]',
    ],
    [line('work:overlapped', { files: 0, paths: [] }), 'ann and bob (#2) no longer change the same files [quiet]'],
    [line('work:kept', { taskId: '1' }), 'ann puts its work for #1 aside; 2222222 keeps it: no task [notable]'],
    [line('landing:ended', { how: 'split' }), 'the merge queue halves the landing: the tests fail'],
    [line('landing:ended', { how: 'dropped' }), 'the merge queue begins the landing again: the tests fail'],
    [
      line('tip:moved', { rewritten: true, to: commit(6) }),
      'lead replaced commits of the branch: 1111111 to 6666666 [notable]',
    ],
  ])('about work: %s', (told, expected) => expect(told).toBe(expected));

  test.each([
    [line('message:sent', { priority: 'normal' }), 'lead wrote to ann, lead "x"'],
    [line('message:read', { messageIds: ['m1', 'm2'] }), 'ann read 2 messages [quiet]'],
    [line('request:raised', { kind: 'review' }), 'ann is asked for a review [notable] "May I?"'],
    [line('request:raised', { kind: 'question' }), 'ann asks its user [notable] "May I?"'],
    [line('request:answered', { kind: 'gate', approved: true, feedback: 'fine' }), 'lead said yes to ann: fine'],
    [
      line('request:answered', { kind: 'question', approved: true, choice: 'tabs', feedback: 'ok' }),
      'lead answered ann: tabs',
    ],
    [line('request:answered', { kind: 'question' }), 'lead left the question to ann'],
    [line('request:answered', { kind: 'question', choice: 'tabs' }), 'lead gave ann its default answer: tabs'],
  ])('about mail and requests: %s', (told, expected) => expect(told).toBe(expected));

  const windows = [
    { name: 'five_hour', used: 0.85 },
    { name: 'week', used: 0.101 },
  ];

  test.each([
    [line('account:changed', { limit: null }), 'the account claude can be used again [good]'],
    [
      line('account:changed', { limit: undefined, windows, warns: ['five_hour'] }),
      'the account claude has used five_hour 85 %, week 10 % [notable]',
    ],
    [
      line('account:changed', { limit: undefined, windows }),
      'the account claude has used five_hour 85 %, week 10 % [quiet]',
    ],
    [
      line('usage:recorded', { usage: { ...NO_USAGE, inputTokens: 1200, outputTokens: 34 } }),
      'ann used 1,234 tokens [quiet]',
    ],
    [line('usage:recorded', { usage: { ...NO_USAGE, turns: 2 } }), 'ann did 2 turns [quiet]'],
  ])('about accounts and usage: %s', (told, expected) => expect(told).toBe(expected));
});

describe('a waiting member', () => {
  test.each([
    ['its budget', sample('teammate:changed', { budget: { turns: 5 } })],
    ['its quiet hours', sample('teammate:changed', { quietHours: '22:00-07:00' })],
    ['what it does at a limit', sample('teammate:changed', { onLimit: { policy: 'wait', agents: [] } })],
    ['the answer to its question', sample('request:answered', { kind: 'question' })],
  ])('is woken by %s, and no other member is', (_what, event) => expect(woken(event)).toEqual(['ann']));

  test('is woken by every answer about an account, because others share it', () => {
    expect(woken(sample('request:answered', { kind: 'account' }))).toEqual(ALL);
  });

  test('is not woken by an account whose limit did not change, nor by mail to others', () => {
    expect(woken(sample('account:changed', { limit: undefined }))).toEqual([]);
    expect(woken(sample('account:changed', { limit: null }))).toEqual(ALL);
    expect(woken(sample('message:sent', { copies: [{ id: 'm', toId: 'lead' }] }))).toEqual([]);
  });
});
