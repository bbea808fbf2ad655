import { describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { HookResult, TeammateIdleHookContext } from '../../src/core/hook.ts';
import { MESSAGE_BYTES, RESULT_BYTES } from '../../src/core/limits.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import type { IdleNotice, InboxFilter, MailboxEvents } from '../../src/ledger/mailbox.ts';
import { claim, complete, createTeam, join, leave, run, task, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, PLACES } from './places.ts';
import { door, settleTurns, watchedJournal } from './watched-journal.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

describe.each(PLACES)('the mailbox on $name', ({ makePlace }) => {
  type Gate = (context: TeammateIdleHookContext) => HookResult | Promise<HookResult>;

  async function openMailbox({ gate }: { gate?: Gate } = {}) {
    const place = makePlace();
    const journal = watchedJournal(place.open());
    const clock = { now: START };
    const ledger = openLedger(journal, { now: () => clock.now });
    await createTeam(ledger);
    const mailbox = new Mailbox(ledger, gate && { gate: { executeTeammateIdleHook: async (c) => gate(c) } });
    onTestFinished(() => mailbox.close());
    const inbox = async (memberId: string, filter?: InboxFilter) =>
      (await mailbox.getInbox(TEAM, memberId, filter)).map(({ content }) => content);
    return { place, journal, clock, ledger, mailbox, inbox };
  }

  test('has the methods of the first design, and close', () => {
    expect(Object.getOwnPropertyNames(Mailbox.prototype).sort()).toEqual([
      'broadcast',
      'close',
      'constructor',
      'getInbox',
      'markRead',
      'notifyIdle',
      'notifyShutdown',
      'send',
    ]);
  });

  describe('sends', () => {
    test('a message to one inbox', async () => {
      const { mailbox } = await openMailbox();
      const sent = await mailbox.send(TEAM, 'ann', {
        toId: 'bob',
        content: 'hello',
        summary: 'a greeting',
        priority: 'urgent',
        metadata: { mood: 'good' },
      });
      expect(sent).toMatchObject({
        teamId: TEAM,
        fromId: 'ann',
        toId: 'bob',
        type: 'direct',
        content: 'hello',
        summary: 'a greeting',
        priority: 'urgent',
        sentAt: new Date(START),
        metadata: { mood: 'good' },
      });
      expect(sent.deliveredAt).toBeUndefined();
      expect(sent.readAt).toBeUndefined();
      expect(await mailbox.getInbox(TEAM, 'bob')).toEqual([sent]);
      expect(await mailbox.getInbox(TEAM, 'ann')).toEqual([]);
    });

    test('one message per id, and returns the first one again', async () => {
      const { clock, mailbox } = await openMailbox();
      const send = (content: string) => mailbox.send(TEAM, 'ann', { toId: 'bob', content }, { messageId: 'm1' });
      const first = await send('hello');
      clock.now += 1000;
      expect(await send('hello')).toEqual(first);
      await expect(send('something else')).rejects.toMatchObject({ code: 'conflict' });
      expect(await mailbox.getInbox(TEAM, 'bob')).toEqual([first]);
    });

    test('messages in the order of sending, even if 100 are sent in parallel', async () => {
      const { mailbox, inbox } = await openMailbox();
      const texts = Array.from({ length: 100 }, (_, i) => `message ${i}`);
      await Promise.all(texts.map((content) => mailbox.send(TEAM, 'ann', { toId: 'bob', content })));
      expect(await inbox('bob')).toEqual(texts);
    });

    test('a broadcast to all other members in one commit, one message each', async () => {
      const { ledger, journal, mailbox, inbox } = await openMailbox();
      await run(ledger, join('cy'), join('dan'));
      await run(ledger, leave('cy'), leave('dan', { returning: true }));
      journal.appends.length = 0;
      const sent = await mailbox.broadcast(TEAM, 'ann', 'all hands', { priority: 'urgent', messageId: 'b1' });
      expect(sent).toMatchObject([
        { toId: 'lead', type: 'broadcast', priority: 'urgent', broadcastId: 'b1' },
        { toId: 'bob', type: 'broadcast', broadcastId: 'b1' },
        { toId: 'dan', type: 'broadcast', broadcastId: 'b1' },
      ]);
      expect(journal.appends).toEqual([1]);
      expect(await mailbox.broadcast(TEAM, 'ann', 'all hands', { messageId: 'b1' })).toEqual(sent);
      expect(await inbox('bob')).toEqual(['all hands']);
      expect(await inbox('ann')).toEqual([]);
      expect(await inbox('cy')).toEqual([]);
    });

    test('what a person writes to a member by its address, and nothing to nobody', async () => {
      const { ledger, mailbox, inbox } = await openMailbox();
      await mailbox.send('elsewhere', '@user', { toId: `ann@${TEAM}`, content: 'hello' });
      expect(await inbox('ann')).toEqual(['hello']);
      await run(ledger, leave('ann'), leave('bob'));
      expect(await mailbox.broadcast(TEAM, 'lead', 'anybody?')).toEqual([]);
    });

    test('nothing if the input is wrong, and changes nothing', async () => {
      const { ledger, mailbox } = await openMailbox();
      await run(ledger, join('cy'));
      await run(ledger, leave('cy'));
      const before = await observed(ledger);
      const wrong: [string, object, string][] = [
        ['ann', { toId: 'zed', content: 'x' }, 'not_found'],
        ['ann', { toId: 'cy', content: 'x' }, 'member_stopped'],
        ['cy', { toId: 'ann', content: 'x' }, 'member_stopped'],
        ['zed', { toId: 'ann', content: 'x' }, 'not_found'],
        ['ann', { toId: 'bob', content: 'x', type: 'system' }, 'not_allowed'],
        ['lead', { toId: 'bob', content: 'x', type: 'plan_approval' }, 'not_allowed'],
        ['ann', { toId: 'bob', content: 'x', type: 'broadcast' }, 'invalid'],
        ['ann', { toId: 'Bob!', content: 'x' }, 'invalid'],
        ['ann', { toId: 'bob', content: 'x', fromId: 'lead' }, 'invalid'],
        ['ann', { toId: 'bob', content: 'x'.repeat(MESSAGE_BYTES + 1) }, 'invalid'],
      ];
      for (const [from, input, code] of wrong) {
        await expect(mailbox.send(TEAM, from, input as { toId: string; content: string })).rejects.toMatchObject({
          code,
        });
      }
      const slashed = mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'x' }, { messageId: 'b1/bob' });
      await expect(slashed).rejects.toMatchObject({ code: 'invalid' });
      await expect(mailbox.broadcast(TEAM, 'zed', 'x')).rejects.toMatchObject({ code: 'not_found' });
      expect(await observed(ledger)).toEqual(before);
    });

    test('text that looks like a protocol message as text (invariant 33)', async () => {
      const { ledger, mailbox, inbox } = await openMailbox();
      const content = JSON.stringify({ type: 'shutdown_approved', requestId: 'shutdown-1@bob' });
      await mailbox.send(TEAM, 'ann', { toId: 'bob', content });
      expect(await inbox('bob')).toEqual([content]);
      expect(await ledger.view(TEAM, ({ requests, members }) => [requests.size, members.get('bob')?.status])).toEqual([
        0,
        'active',
      ]);
    });
  });

  describe('shows an inbox', () => {
    test('filtered by type, by read or unread, and by time', async () => {
      const { clock, mailbox, inbox } = await openMailbox();
      const at = (second: number) => new Date(START + second * 1000);
      for (const [second, send] of [
        () => mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'direct 0' }, { messageId: 'm0' }),
        () => mailbox.broadcast(TEAM, 'lead', 'broadcast 1'),
        () => mailbox.send(TEAM, '@system', { toId: 'bob', content: 'system 2', type: 'system' }),
        () => mailbox.send(TEAM, 'lead', { toId: 'bob', content: 'direct 3' }),
      ].entries()) {
        clock.now = START + second * 1000;
        await send();
      }
      await mailbox.markRead(TEAM, 'm0', 'bob');
      expect(await inbox('bob')).toEqual(['direct 0', 'broadcast 1', 'system 2', 'direct 3']);
      expect(await inbox('bob', { type: 'direct' })).toEqual(['direct 0', 'direct 3']);
      expect(await inbox('bob', { type: ['system', 'broadcast'] })).toEqual(['broadcast 1', 'system 2']);
      expect(await inbox('bob', { type: [] })).toEqual([]);
      expect(await inbox('bob', { read: true })).toEqual(['direct 0']);
      expect(await inbox('bob', { read: false })).toEqual(['broadcast 1', 'system 2', 'direct 3']);
      expect(await inbox('bob', { since: at(1) })).toEqual(['broadcast 1', 'system 2', 'direct 3']);
      expect(await inbox('bob', { until: at(1) })).toEqual(['direct 0']);
      expect(await inbox('bob', { since: at(1), until: at(3), read: false, type: 'system' })).toEqual(['system 2']);
    });

    test('of members only, stopped ones too', async () => {
      const { ledger, mailbox, inbox } = await openMailbox();
      await expect(inbox('zed')).rejects.toMatchObject({ code: 'not_found' });
      await expect(mailbox.getInbox('other', 'ann')).rejects.toMatchObject({ code: 'not_found' });
      await mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'hello' });
      await run(ledger, leave('bob'));
      expect(await inbox('bob')).toEqual(['hello']);
    });
  });

  describe('marks as read', () => {
    test('a message in the member’s own inbox, once', async () => {
      const { clock, mailbox } = await openMailbox();
      await mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'hello' }, { messageId: 'm1' });
      const readAt = new Date((clock.now += 1000));
      await mailbox.markRead(TEAM, 'm1', 'bob');
      clock.now += 1000;
      await mailbox.markRead(TEAM, 'm1', 'bob');
      expect(await mailbox.getInbox(TEAM, 'bob')).toMatchObject([{ readAt, deliveredAt: readAt }]);
    });

    test('no other message', async () => {
      const { ledger, mailbox } = await openMailbox();
      await mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'hello' }, { messageId: 'm1' });
      const before = await observed(ledger);
      await expect(mailbox.markRead(TEAM, 'm1', 'ann')).rejects.toMatchObject({ code: 'not_found' });
      await expect(mailbox.markRead(TEAM, 'm2', 'bob')).rejects.toMatchObject({ code: 'not_found' });
      await expect(mailbox.markRead(TEAM, 'm1', 'zed')).rejects.toThrow(TeamError);
      expect(await observed(ledger)).toEqual(before);
    });
  });

  describe('says that a member is idle', () => {
    const allow = { exitCode: 0, stdout: '', stderr: '', duration: 1, timedOut: false } as const;

    test('once per change, with the result of the work, and without a message', async () => {
      const { ledger, mailbox, inbox } = await openMailbox();
      const notices: IdleNotice[] = [];
      mailbox.on('teammate:idle', (notice) => notices.push(notice));
      await mailbox.notifyIdle(TEAM, 'ann', { result: 'two pages', reason: 'nothing left' });
      await Promise.all([mailbox.notifyIdle(TEAM, 'ann'), mailbox.notifyIdle(TEAM, 'ann', { result: 'again' })]);
      expect(notices).toEqual([{ teamId: TEAM, memberId: 'ann', reason: 'nothing left', result: 'two pages' }]);
      const member = await ledger.view(TEAM, ({ members }) => members.get('ann'));
      expect(member).toMatchObject({ status: 'idle', lastResult: 'two pages' });
      expect(await inbox('lead')).toEqual([]);

      await run(ledger, { type: 'member.change', by: 'ann', memberId: 'ann', status: 'active' });
      await mailbox.notifyIdle(TEAM, 'ann');
      expect(notices).toHaveLength(2);
    });

    test('after asking the gate, which gets the member, its completed tasks and the remaining ones', async () => {
      const contexts: TeammateIdleHookContext[] = [];
      const { ledger, mailbox } = await openMailbox({
        gate(context) {
          contexts.push(context);
          return allow;
        },
      });
      await run(ledger, task('one'), task('two'), task('three'), claim('ann', '1'), complete('ann', '1'), claim('bob'));
      await mailbox.notifyIdle(TEAM, 'ann');
      await mailbox.notifyIdle(TEAM, 'ann');
      expect(contexts).toMatchObject([
        { teamId: TEAM, memberId: 'ann', memberName: 'ann', completedTaskIds: ['1'], remainingTasks: 2 },
      ]);
    });

    test.each([
      ['stderr and stdout', { stderr: ' check the tests\n', stdout: 'log' }, 'check the tests\n\nlog'],
      ['stdout where stderr is empty', { stdout: 'check the tests' }, 'check the tests'],
      ['a sentence of its own where both are', {}, 'Keep working.'],
    ])('unless the gate rejects it, which sends the member %s as a message', async (_where, output, feedback) => {
      const { ledger, mailbox } = await openMailbox({ gate: () => ({ ...allow, exitCode: 2, ...output }) });
      const notices: unknown[] = [];
      mailbox.on('teammate:idle', (notice) => notices.push(notice));
      await mailbox.notifyIdle(TEAM, 'ann');
      expect(await mailbox.getInbox(TEAM, 'ann')).toMatchObject([
        { fromId: '@system', type: 'system', content: feedback },
      ]);
      expect(notices).toEqual([]);
      expect(await ledger.view(TEAM, ({ members }) => members.get('ann')?.status)).toBe('active');
    });

    test('once if the call is repeated while its gate runs, and sends the feedback once', async () => {
      const gates: (() => void)[] = [];
      const { ledger, mailbox } = await openMailbox({
        async gate() {
          await new Promise<void>((resolve) => void gates.push(resolve));
          return { ...allow, exitCode: 2 as const, stderr: 'check the tests' };
        },
      });
      const first = mailbox.notifyIdle(TEAM, 'ann');
      await expect.poll(() => gates.length).toBe(1);
      const again = mailbox.notifyIdle(TEAM, 'ann');
      // By now the second call would have asked too.
      await run(ledger, task('one'));
      for (const open of gates) open();
      expect(await Promise.all([first, again])).toEqual([false, false]);
      expect(gates).toHaveLength(1);
      expect(await mailbox.getInbox(TEAM, 'ann')).toHaveLength(1);
    });

    test('even if a blocking gate cannot run, which would keep it at work for nothing', async () => {
      const { ledger, mailbox } = await openMailbox({ gate: () => ({ ...allow, exitCode: 2, unable: 'no program' }) });
      expect(await mailbox.notifyIdle(TEAM, 'ann')).toBe(true);
      expect(await ledger.view(TEAM, ({ members }) => members.get('ann')?.status)).toBe('idle');
    });

    test('only through the daemon that runs the member', async () => {
      const { ledger, mailbox } = await openMailbox();
      await run(ledger, join('cyd', { agent: { kind: 'exec', command: ['true'] } }));
      const idle = mailbox.notifyIdle(TEAM, 'cyd', { onHost: 'another' });
      await expect(idle).rejects.toMatchObject({ code: 'member_stopped' });
    });

    test('even if the gate itself fails', async () => {
      const { ledger, mailbox } = await openMailbox({ gate: () => ({ ...allow, exitCode: 1, timedOut: true }) });
      await mailbox.notifyIdle(TEAM, 'ann');
      expect(await ledger.view(TEAM, ({ members }) => members.get('ann')?.status)).toBe('idle');
    });

    test('only if the member is known and running and the input is valid; else asks no gate', async () => {
      let asked = 0;
      const { ledger, mailbox } = await openMailbox({
        gate() {
          asked++;
          return allow;
        },
      });
      await run(ledger, leave('bob'));
      await expect(mailbox.notifyIdle(TEAM, 'bob')).rejects.toMatchObject({ code: 'member_stopped' });
      await expect(mailbox.notifyIdle(TEAM, 'zed')).rejects.toMatchObject({ code: 'not_found' });
      await expect(mailbox.notifyIdle('other', 'ann')).rejects.toMatchObject({ code: 'not_found' });
      const long = mailbox.notifyIdle(TEAM, 'ann', { result: 'x'.repeat(RESULT_BYTES + 1) });
      await expect(long).rejects.toMatchObject({ code: 'invalid' });
      expect(asked).toBe(0);
    });
  });

  test('tells the lead that a member shuts down', async () => {
    const { mailbox } = await openMailbox();
    await mailbox.notifyShutdown(TEAM, 'ann', 'all done');
    await mailbox.notifyShutdown(TEAM, 'bob', '');
    expect(await mailbox.getInbox(TEAM, 'lead')).toMatchObject([
      { fromId: '@system', type: 'system', content: 'ann is shutting down: all done', metadata: { memberId: 'ann' } },
      { fromId: '@system', type: 'system', content: 'bob is shutting down' },
    ]);
    await expect(mailbox.notifyShutdown(TEAM, 'zed', '')).rejects.toMatchObject({ code: 'not_found' });
    await expect(mailbox.notifyShutdown('other', 'ann', '')).rejects.toMatchObject({ code: 'not_found' });
  });

  describe('emits', () => {
    const NAMES = ['message:sent', 'message:delivered', 'message:read'] as const satisfies (keyof MailboxEvents)[];

    function listen(mailbox: Mailbox): string[] {
      const heard: string[] = [];
      for (const name of NAMES) mailbox.on(name, ({ toId, content }) => void heard.push(`${name} ${toId} ${content}`));
      return heard;
    }

    test('each event once, after it is durable', async () => {
      const { journal, ledger, mailbox } = await openMailbox();
      const heard = listen(mailbox);
      const gate = door();
      journal.afterAppend = gate.pass;
      const sending = mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'hello' }, { messageId: 'm1' });
      await expect.poll(gate.waiting).toBe(1);
      await settleTurns();
      expect(heard).toEqual([]);
      gate.open();
      await sending;
      const memberId = 'bob';
      await run(ledger, {
        type: 'message.deliver',
        by: memberId,
        memberId,
        messageIds: ['m1'],
        sessionId: 's1',
        redelivery: false,
      });
      await mailbox.markRead(TEAM, 'm1', 'bob');
      await mailbox.markRead(TEAM, 'm1', 'bob');
      await mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'hello' }, { messageId: 'm1' });
      await mailbox.broadcast(TEAM, 'lead', 'all');
      expect(heard).toEqual([
        'message:sent bob hello',
        'message:delivered bob hello',
        'message:read bob hello',
        'message:sent ann all',
        'message:sent bob all',
      ]);
    });

    test('no event of a refused or failed call', async () => {
      const { journal, mailbox } = await openMailbox();
      const heard = listen(mailbox);
      await expect(mailbox.send(TEAM, 'ann', { toId: 'zed', content: 'x' })).rejects.toThrow(TeamError);
      journal.beforeAppend = () => {
        throw new TeamError('storage', 'The disk is full.');
      };
      await expect(mailbox.send(TEAM, 'ann', { toId: 'bob', content: 'x' })).rejects.toThrow('full');
      await settleTurns();
      expect(heard).toEqual([]);
    });

    test('events of another ledger, once', async () => {
      const { place, mailbox, inbox } = await openMailbox();
      const other = new Mailbox(openLedger(place.open()));
      onTestFinished(() => other.close());
      const heard = listen(mailbox);
      await inbox('bob');
      await other.send(TEAM, 'ann', { toId: 'bob', content: 'hello' });
      await expect.poll(() => heard).toEqual(['message:sent bob hello']);
      await inbox('bob');
      await settleTurns();
      expect(heard).toHaveLength(1);
    });

    test('all events although a listener throws, and nothing after close', async () => {
      const { mailbox } = await openMailbox();
      const heard: string[] = [];
      mailbox.on('message:sent', ({ toId }) => {
        heard.push(toId);
        throw new Error('a bad listener');
      });
      await mailbox.broadcast(TEAM, 'lead', 'all');
      expect(heard).toEqual(['ann', 'bob']);
      mailbox.close();
      expect(mailbox.eventNames()).toEqual([]);
      await mailbox.broadcast(TEAM, 'lead', 'all again');
      expect(heard).toHaveLength(2);
    });
  });
});
