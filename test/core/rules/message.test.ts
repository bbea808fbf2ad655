import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FORMER_SESSIONS } from '../../../src/core/limits.ts';
import type { TeamMessage } from '../../../src/core/message.ts';
import { Stage, teamOf, types } from '../stage.ts';

describe('a message', () => {
  test('has the id that it was sent with, its sender from the credential, and waits in order', () => {
    const team = teamOf('ann', 'bob');
    const said = { content: 'hello', summary: 's', priority: 'urgent' as const, metadata: { a: 1 } };
    expect(team.as('bob', 'message.send', { messageId: 'm1', toId: 'ann', ...said })).toMatchObject([
      { type: 'message:sent', by: 'bob', copies: [{ id: 'm1', toId: 'ann' }], messageType: 'direct' },
    ]);
    expect(message(team, 'm1')).toMatchObject({
      id: 'm1',
      teamId: 'alpha',
      fromId: 'bob',
      toId: 'ann',
      type: 'direct',
      order: 1,
      redeliveries: 0,
      sentAt: expect.any(Date) as Date,
      ...said,
    });
    expect(message(team, 'm1').deliveredAt).toBeUndefined();
    send(team, '@user', 'm2', 'ann');
    expect(inbox(team, 'ann')).toEqual({ ids: ['m1', 'm2'], waiting: ['m1', 'm2'] });
    expect(message(team, 'm2')).toMatchObject({ order: 2, priority: 'normal', fromId: '@user' });
  });

  test('sent again under its id changes nothing and returns the first one', () => {
    const team = teamOf('ann', 'bob');
    send(team, 'bob', 'm1', 'ann');
    const first = message(team, 'm1');
    const again = { messageId: 'm1', toId: 'ann', content: 'hello', priority: 'urgent' as const };
    expect(team.as('bob', 'message.send', again)).toEqual([]);
    expect(message(team, 'm1')).toEqual(first);
    team.do('member.leave', { memberId: 'ann' });
    expect(team.as('bob', 'message.send', again)).toEqual([]);
  });

  test.each([
    ['another sender', 'ann', { toId: 'lead', content: 'hello' }],
    ['another recipient', 'bob', { toId: 'ann', content: 'hello' }],
    ['another text', 'bob', { toId: 'lead', content: 'bye' }],
  ])('under a used id with %s is refused', (_what, by, input) => {
    const team = teamOf('ann', 'bob');
    send(team, 'bob', 'm1', 'lead');
    expect(team.refuse(by, 'message.send', { messageId: 'm1', ...input })).toMatchObject({
      code: 'conflict',
      message: 'Message id "m1" is used for another message: send with a new id',
    });
  });

  test.each(['system', 'plan_approval', 'task_update'] as const)('of type %s comes only from Troupe', (messageType) => {
    const team = teamOf('ann');
    const input = { messageId: 'm1', toId: 'ann', content: 'x', messageType };
    for (const by of ['ann', 'lead', '@user']) {
      expect(team.refuse(by, 'message.send', input)).toMatchObject({
        code: 'not_allowed',
        message: `Messages of type ${messageType} come only from Troupe itself: send a direct one`,
      });
    }
    team.as('@system', 'message.send', input);
    expect(message(team, 'm1').type).toBe(messageType);
  });

  test('of type broadcast is not direct, and the sender is not a field', () => {
    const team = teamOf('ann');
    const input = { messageId: 'm1', toId: 'ann', content: 'x' };
    expect(team.refuse('lead', 'message.send', { ...input, messageType: 'broadcast' } as never).code).toBe('invalid');
    expect(team.refuse('lead', 'message.send', { ...input, fromId: 'ann' } as never)).toMatchObject({
      code: 'invalid',
      message: 'The input has no key "fromId"',
    });
  });

  test('to an unknown member is refused; to a returning one it waits', () => {
    const team = teamOf('ann');
    expect(team.refuse('lead', 'message.send', { messageId: 'm', toId: 'eve', content: 'x' })).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no member "eve"; it has lead, ann',
    });
    team.do('member.leave', { memberId: 'ann', returning: true });
    send(team, 'lead', 'm1', 'ann');
    expect(inbox(team, 'ann').waiting).toEqual(['m1']);
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('lead', 'message.send', { messageId: 'm2', toId: 'ann', content: 'x' })).toMatchObject({
      code: 'member_stopped',
      message: 'Member ann is stopped and would never read it: start it again or write to another',
    });
    expect(inbox(team, 'ann').waiting).toEqual(['m1']);
  });

  test('to the lead of a team without one is refused: nobody would read it', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', leadAgentType: 'none', peers: ['beta'] });
    const toLead = { messageId: 'm', toId: 'lead', content: 'x' };
    const none = 'Team alpha has no lead, so nobody would read it: ';
    expect(team.refuse('@user', 'message.send', toLead).message).toBe(`${none}start a member first`);
    team.as('@user', 'member.join', { name: 'ann' });
    team.as('@user', 'member.join', { name: 'bob' });
    for (const by of ['@user', 'ann']) {
      expect(team.refuse(by, 'message.send', toLead)).toMatchObject({
        code: 'not_found',
        message: `${none}write to ann or bob`,
      });
    }
    expect(team.refuse('kim@beta', 'message.receive', toLead).code).toBe('not_found');
    expect(team.as('ann', 'message.broadcast', { messageId: 'b', content: 'x' })).toMatchObject([
      { copies: [{ toId: 'bob' }] },
    ]);
    // What Troupe says is in the log.
    team.as('@system', 'message.send', { ...toLead, messageType: 'system' });
    expect(team.refuse('ann', 'member.leave', { memberId: 'bob' }).message).toMatch(/: ask a person$/);
    expect(team.refuse('@user', 'message.send', { ...toLead, messageId: 'n', toId: 'eve' }).message).toMatch(
      /; it has ann, bob$/,
    );
  });

  test('from an unknown member is refused', () => {
    const team = teamOf('ann');
    expect(team.refuse('eve', 'message.send', { messageId: 'm', toId: 'ann', content: 'x' }).code).toBe('not_found');
    expect(team.refuse('eve', 'message.broadcast', { messageId: 'm', content: 'x' }).code).toBe('not_found');
  });
});

describe('a broadcast', () => {
  test('reaches all present members but its sender, in one event', () => {
    const team = teamOf('ann', 'bob', 'cyd', 'dan', 'eve');
    team.do('member.leave', { memberId: 'bob' });
    team.do('member.leave', { memberId: 'cyd', returning: true });
    team.do('member.change', { memberId: 'dan', status: 'shutting-down' });
    const said = { content: 'hello', summary: 's', priority: 'urgent' as const, metadata: { a: 1 } };
    expect(team.as('ann', 'message.broadcast', { messageId: 'b1', ...said })).toMatchObject([
      {
        type: 'message:sent',
        broadcastId: 'b1',
        copies: ['lead', 'cyd', 'dan', 'eve'].map((toId) => ({ id: `b1/${toId}`, toId })),
      },
    ]);
    team.join('fay');
    expect(message(team, 'b1/cyd')).toMatchObject({ type: 'broadcast', fromId: 'ann', broadcastId: 'b1', ...said });
    expect(inbox(team, 'lead').ids).toEqual(['b1/lead']);
    expect(inbox(team, 'fay').ids).toEqual([]);
    expect(team.as('@user', 'message.broadcast', { messageId: 'b2', content: 'x' })).toMatchObject([
      { copies: ['lead', 'ann', 'cyd', 'dan', 'eve', 'fay'].map((toId) => ({ toId })) },
    ]);
  });

  test('sent again under its id changes nothing, even when the roster has changed', () => {
    const team = teamOf('ann');
    team.do('message.broadcast', { messageId: 'b1', content: 'hello' });
    team.join('bob');
    expect(team.do('message.broadcast', { messageId: 'b1', content: 'hello' })).toEqual([]);
    for (const [by, content] of [
      ['lead', 'bye'],
      ['ann', 'hello'],
    ] as const) {
      expect(team.refuse(by, 'message.broadcast', { messageId: 'b1', content })).toMatchObject({
        code: 'conflict',
        message: 'Message id "b1" is used for another broadcast: send with a new id',
      });
    }
  });

  test('without recipients has no effect', () => {
    const team = teamOf();
    expect(team.do('message.broadcast', { messageId: 'b1', content: 'hello' })).toEqual([]);
  });

  test('keeps its place among direct messages', () => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    team.do('message.broadcast', { messageId: 'b1', content: 'x' });
    send(team, 'lead', 'm2', 'ann');
    expect(inbox(team, 'ann').ids).toEqual(['m1', 'b1/ann', 'm2']);
  });
});

describe('an inbox', () => {
  test.each(['message.deliver', 'message.acknowledge', 'message.read'] as const)(
    'is changed only by its owner and by Troupe: %s',
    (type) => {
      const team = teamOf('ann', 'bob');
      send(team, 'lead', 'm1', 'ann');
      const input = { memberId: 'ann', messageIds: ['m1'], ...(type === 'message.deliver' && { sessionId: 's1' }) };
      for (const by of ['bob', 'lead', '@user']) {
        expect(team.refuse(by, type, input as never)).toMatchObject({
          code: 'not_allowed',
          message: `${by} may not touch the inbox of ann: only ann may`,
        });
      }
      expect(team.as('ann', type, input as never)).toHaveLength(1);
      send(team, 'lead', 'm2', 'ann');
      expect(team.as('@system', type, { ...input, messageIds: ['m2'] })).toHaveLength(1);
    },
  );

  test.each(['message.deliver', 'message.acknowledge', 'message.read'] as const)(
    'refuses unknown messages, and changes none: %s',
    (type) => {
      const team = teamOf('ann', 'bob');
      send(team, 'lead', 'm1', 'ann');
      send(team, 'lead', 'm2', 'bob');
      const session = type === 'message.deliver' ? { sessionId: 's1' } : {};
      for (const id of ['m2', 'm9']) {
        const input = { memberId: 'ann', messageIds: ['m1', id], ...session } as never;
        expect(team.refuse('ann', type, input)).toMatchObject({
          code: 'not_found',
          message: `The inbox of ann has no message "${id}": list it to see its messages`,
        });
      }
      expect(message(team, 'm1').deliveredAt).toBeUndefined();
      const nobody = { memberId: 'eve', messageIds: ['m1'], ...session } as never;
      expect(team.refuse('@system', type, nobody)).toMatchObject({
        code: 'not_found',
        message: 'Team alpha has no member "eve"; it has lead, ann, bob',
      });
    },
  );
});

describe('a delivery', () => {
  test('has messages in the order of sending, each once', () => {
    const team = teamOf('ann');
    for (const id of ['m1', 'm2', 'm3']) send(team, 'lead', id, 'ann');
    expect(deliver(team, ['m3', 'm1', 'm3'])).toMatchObject([
      { type: 'message:delivered', memberId: 'ann', messageIds: ['m1', 'm3'], sessionId: 's1' },
    ]);
    expect(message(team, 'm1')).toMatchObject({ deliveredAt: expect.any(Date) as Date, sessionId: 's1' });
    expect(deliver(team, ['m1', 'm3'])).toEqual([]);
    expect(inbox(team, 'ann').waiting).toEqual(['m1', 'm2', 'm3']);
  });

  test('is repeated only if the caller asks for it, and marked', () => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    deliver(team, ['m1']);
    const first = message(team, 'm1').deliveredAt;
    expect(deliver(team, ['m1'], { redelivery: true })).toMatchObject([{ messageIds: ['m1'], redelivery: true }]);
    expect(message(team, 'm1')).toMatchObject({ redeliveries: 1, deliveredAt: first });
  });

  test('does not give messages of the present session to an older one that is still alive', () => {
    const team = teamOf('ann');
    team.as('lead', 'message.send', { messageId: 'm1', toId: 'ann', content: 'x' });
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's1' });
    expect(deliver(team, ['m1'], { sessionId: 's1' })).toHaveLength(1);
    // A new session takes over what was not acknowledged, and keeps it.
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's2' });
    expect(deliver(team, ['m1'], { sessionId: 's2' })).toMatchObject([{ sessionId: 's2', redelivery: true }]);
    for (const redelivery of [false, true]) expect(deliver(team, ['m1'], { sessionId: 's1', redelivery })).toEqual([]);
    expect(message(team, 'm1')).toMatchObject({ sessionId: 's2', redeliveries: 1 });
  });

  test('to another session is marked, because the first may have shown it', () => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    deliver(team, ['m1']);
    expect(deliver(team, ['m1'], { sessionId: 's2' })).toMatchObject([{ sessionId: 's2', redelivery: true }]);
    expect(message(team, 'm1')).toMatchObject({ sessionId: 's2', redeliveries: 1 });
    expect(deliver(team, ['m1'], { sessionId: 's2' })).toEqual([]);
  });

  test('never goes back to a session after a newer one has the message', () => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    deliver(team, ['m1'], { sessionId: 's1' });
    deliver(team, ['m1'], { sessionId: 's2', redelivery: true });
    for (const redelivery of [false, true]) expect(deliver(team, ['m1'], { sessionId: 's1', redelivery })).toEqual([]);
    // The newest session may lose it and get it once more, and a later session takes it over.
    expect(deliver(team, ['m1'], { sessionId: 's2', redelivery: true })).toHaveLength(1);
    expect(deliver(team, ['m1'], { sessionId: 's3' })).toMatchObject([{ sessionId: 's3', redelivery: true }]);
    expect(deliver(team, ['m1'], { sessionId: 's2', redelivery: true })).toEqual([]);
  });

  test('marked as a redelivery is a first delivery if there was none', () => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    const [event] = deliver(team, ['m1'], { redelivery: true });
    expect(event).toMatchObject({ messageIds: ['m1'] });
    expect(event).not.toHaveProperty('redelivery');
    expect(message(team, 'm1').redeliveries).toBe(0);
  });

  test('of new and old messages tells them apart', () => {
    const team = teamOf('ann');
    for (const id of ['m1', 'm2']) send(team, 'lead', id, 'ann');
    deliver(team, ['m1']);
    expect(deliver(team, ['m1', 'm2'], { sessionId: 's2' })).toMatchObject([
      { messageIds: ['m2'] },
      { messageIds: ['m1'], redelivery: true },
    ]);
  });

  test.each(['message.acknowledge', 'message.read'] as const)('never comes after %s', (type) => {
    const team = teamOf('ann');
    send(team, 'lead', 'm1', 'ann');
    team.as('ann', type, { memberId: 'ann', messageIds: ['m1'] });
    for (const sessionId of ['s1', 's2']) expect(deliver(team, ['m1'], { sessionId, redelivery: true })).toEqual([]);
  });
});

describe('sent, delivered, acknowledged and read', () => {
  test('are separate facts, each recorded once, in any order', () => {
    const step = fc.constantFrom('message.deliver', 'message.acknowledge', 'message.read');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const team = teamOf('ann');
        send(team, 'lead', 'm1', 'ann');
        const told = steps.flatMap((type) =>
          types(
            type === 'message.deliver'
              ? deliver(team, ['m1'])
              : team.as('ann', type, { memberId: 'ann', messageIds: ['m1', 'm1'] }),
          ),
        );
        expect(new Set(told).size).toBe(told.length);
        const has = (type: (typeof steps)[number]) => steps.includes(type);
        const { deliveredAt, acknowledgedAt, readAt } = message(team, 'm1');
        expect(deliveredAt !== undefined).toBe(steps.length > 0);
        expect(acknowledgedAt !== undefined).toBe(has('message.acknowledge'));
        expect(readAt !== undefined).toBe(has('message.read'));
        const waits = !has('message.acknowledge') && !has('message.read');
        expect(inbox(team, 'ann').waiting).toEqual(waits ? ['m1'] : []);
        expect(inbox(team, 'ann').ids).toEqual(['m1']);
      }),
    );
  });

  test('of several messages are recorded together, in the order of sending', () => {
    const team = teamOf('ann');
    for (const id of ['m1', 'm2', 'm3']) send(team, 'lead', id, 'ann');
    team.as('ann', 'message.read', { memberId: 'ann', messageIds: ['m2'] });
    expect(team.as('ann', 'message.read', { memberId: 'ann', messageIds: ['m3', 'm2', 'm1'] })).toMatchObject([
      { type: 'message:read', messageIds: ['m1', 'm3'] },
    ]);
    expect(team.as('ann', 'message.acknowledge', { memberId: 'ann', messageIds: ['m3', 'm1'] })).toMatchObject([
      { type: 'message:acknowledged', messageIds: ['m1', 'm3'] },
    ]);
  });
});

function send(team: Stage, by: string, messageId: string, toId: string) {
  return team.as(by, 'message.send', { messageId, toId, content: 'hello' });
}

function deliver(team: Stage, messageIds: string[], options: { sessionId?: string; redelivery?: boolean } = {}) {
  return team.as('@system', 'message.deliver', { memberId: 'ann', messageIds, sessionId: 's1', ...options });
}

function message(team: Stage, id: string): TeamMessage {
  return team.state.messages.get(id) as TeamMessage;
}

function inbox(team: Stage, memberId: string) {
  const { ids = [], waiting = [] } = team.state.index.inboxes.get(memberId) ?? {};
  return { ids: [...ids], waiting: [...waiting] };
}

test('a session that asks for what it had before gets it again', () => {
  const team = teamOf('ann');
  team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's1' });
  send(team, 'lead', 'm1', 'ann');
  const deliver = (sessionId: string, redelivery = false) =>
    team.as('ann', 'message.deliver', { memberId: 'ann', messageIds: ['m1'], sessionId, redelivery });
  expect(deliver('s1')).toMatchObject([{ messageIds: ['m1'], sessionId: 's1' }]);
  expect(deliver('s1')).toEqual([]);
  expect(deliver('s1', true)).toMatchObject([{ redelivery: true }]);
  // Another one, which is not the present session, does not.
  expect([deliver('s0'), deliver('s0', true)]).toEqual([[], []]);
  expect(message(team, 'm1')).toMatchObject({ redeliveries: 1, sessionId: 's1' });
});

test('the sessions that had a message are remembered, the last ones of many', () => {
  const team = teamOf('ann');
  send(team, 'lead', 'm1', 'ann');
  for (let n = 0; n < FORMER_SESSIONS + 3; n++) {
    const sessionId = `s${n}`;
    team.as('ann', 'message.deliver', { memberId: 'ann', messageIds: ['m1'], sessionId, redelivery: true });
  }
  const former = message(team, 'm1').formerSessions ?? [];
  expect([former.length, former[0], former.at(-1)]).toEqual([FORMER_SESSIONS, 's2', `s${FORMER_SESSIONS + 1}`]);
});

test('a message that was delivered keeps that time when it is acknowledged and read', () => {
  const team = teamOf('ann');
  send(team, 'lead', 'm1', 'ann');
  const about = { memberId: 'ann', messageIds: ['m1'] };
  team.as('ann', 'message.deliver', { ...about, sessionId: 's1' });
  const { deliveredAt } = message(team, 'm1');
  team.as('ann', 'message.deliver', { ...about, sessionId: 's2', redelivery: true });
  team.as('ann', 'message.acknowledge', about);
  team.as('ann', 'message.read', about);
  expect(message(team, 'm1').deliveredAt).toEqual(deliveredAt);
});
