import { describe, expect, test } from 'vitest';
import type { Actor } from '../../../src/core/actor.ts';
import { decide } from '../../../src/core/decide.ts';
import type { TeamError } from '../../../src/core/errors.ts';
import { SPAWNS_PER_MINUTE } from '../../../src/core/limits.ts';
import { pricesOf } from '../../../src/core/message-price.ts';
import { requireMessagePace, requireSpawnPace } from '../../../src/core/rules/pace.ts';
import { openSnapshot, takeSnapshot } from '../../../src/core/snapshot.ts';
import type { MemberRecord, TeamState } from '../../../src/core/state.ts';
import { tryOne } from '../random-team.ts';
import { commandOf, teamOf } from '../stage.ts';

const START = Date.UTC(2026, 5, 1);

describe('F54: a member that floods', () => {
  test('sends ten messages at once, then one every two seconds', () => {
    const flood = flooder();
    expect(flood.sendUntilRefused(START)).toBe(10);
    expect(flood.sendUntilRefused(START + 1_999)).toBe(0);
    expect(flood.sendUntilRefused(START + 2_000)).toBe(1);
    expect(flood.sendUntilRefused(START + 10_000)).toBe(4);
    expect(flood.sendUntilRefused(START + 600_000)).toBe(10);
  });

  test('sends 39 of 1,000 messages in a minute, and learns each time when to retry', () => {
    const flood = flooder();
    let sent = 0;
    for (let i = 0; i < 1_000; i++) if (flood.send(START + i * 60)) sent++;
    expect(sent).toBe(39);
    expect(() => decide(flood.state, flood.command(START + 59_950))).toThrow(
      'ann sends too fast (30 messages a minute, 10 at once after a pause): try again in 1 s, and say it in one message',
    );
  });

  test('uses one message for a broadcast, and none for a retry', () => {
    const flood = flooder();
    const broadcast = { messageId: 'b', content: 'all' };
    expect(tryOne(flood.state, commandOf('message.broadcast', broadcast, { by: 'ann', at: START }))).toHaveLength(1);
    expect(flood.sendUntilRefused(START)).toBe(9);
    expect(tryOne(flood.state, commandOf('message.broadcast', broadcast, { by: 'ann', at: START }))).toEqual([]);
    const another = commandOf('message.broadcast', { ...broadcast, messageId: 'c' }, { by: 'ann', at: START });
    expect(tryOne(flood.state, another)).toBeUndefined();
  });

  test('delays neither the others nor a person', () => {
    const flood = flooder();
    flood.sendUntilRefused(START);
    expect(flood.send(START, 'bob')).toBe(true);
    for (let i = 0; i < 100; i++) expect(flood.send(START, i % 2 ? '@user' : '@system')).toBe(true);
  });

  test('does not get more by leaving and returning, or from a snapshot', () => {
    const flood = flooder();
    flood.sendUntilRefused(START);
    tryOne(flood.state, commandOf('member.leave', { memberId: 'ann' }, { by: '@user', at: START }));
    tryOne(flood.state, commandOf('member.join', { name: 'ann' }, { by: '@user', at: START }));
    expect(flood.sendUntilRefused(START)).toBe(0);
    const opened = flooder(openSnapshot('alpha', takeSnapshot(flood.state)));
    expect(opened.sendUntilRefused(START)).toBe(0);
    expect(opened.sendUntilRefused(START + 2_000)).toBe(1);
  });

  test('is not blocked for long if the clock is set back', () => {
    const flood = flooder();
    flood.sendUntilRefused(START);
    expect(flood.sendUntilRefused(START - 3_600_000)).toBe(10);
  });

  test.each([1, 2, 3, 60])('may send as many as its team allows: %i a minute', (messagesPerMinute) => {
    const flood = flooder();
    tryOne(flood.state, commandOf('team.update', { messagesPerMinute }, { by: '@user', at: START }));
    expect(flood.sendUntilRefused(START)).toBe(Math.max(1, (messagesPerMinute / 3) | 0));
  });
});

describe('a lead that is an agent', () => {
  test('starts at most ten teammates a minute; a person and Troupe itself have no limit', () => {
    const team = teamOf();
    let joined = 0;
    const join = (by: Actor, at: number): boolean => {
      const input = { name: `m${joined++}`, agent: { kind: 'exec' as const, command: ['true'] } };
      const done = tryOne(team.state, commandOf('member.join', input, { by, at })) !== undefined;
      tryOne(team.state, commandOf('member.leave', { memberId: input.name }, { by: '@user', at }));
      return done;
    };
    for (let i = 0; i < 10; i++) expect(join('lead', START + i)).toBe(true);
    expect(join('lead', START + 59_999)).toBe(false);
    expect(join('@user', START + 59_999)).toBe(true);
    expect(join('@system', START + 59_999)).toBe(true);
    expect(join('lead', START + 60_000)).toBe(true);
    expect(join('lead', START + 60_000)).toBe(false);
    // It adds those that Troupe does not run as fast as it likes.
    const plain = commandOf('member.join', { name: 'plain' }, { by: 'lead', at: START + 60_000 });
    expect(tryOne(team.state, plain)).toBeDefined();
    const input = { name: 'more', agent: { kind: 'exec' as const, command: ['true'] } };
    expect(() => decide(team.state, commandOf('member.join', input, { by: 'lead', at: START + 60_000 }))).toThrow(
      'lead started 10 teammates within a minute: try again in 1 s',
    );
  });

  test('cannot raise the limits of agents, but may lower them; teammates cannot spawn members', () => {
    const team = teamOf('ann');
    expect(team.refuse('lead', 'team.update', { maxTeammates: 9 })).toMatchObject({
      code: 'not_allowed',
      message: 'lead may not raise maxTeammates: only a person may',
    });
    expect(team.refuse('lead', 'team.update', { messagesPerMinute: 31 }).code).toBe('not_allowed');
    team.as('lead', 'team.update', { maxTeammates: 2, messagesPerMinute: 3 });
    team.as('@user', 'team.update', { maxTeammates: 32, messagesPerMinute: 1_000 });
    expect(team.refuse('ann', 'member.join', { name: 'bob' }).code).toBe('not_allowed');
  });

  test('cannot raise the restarts of a night, and decides nothing about quiet hours', () => {
    const team = teamOf('ann');
    const quietHours = '22:00-07:00';
    expect(team.refuse('lead', 'team.update', { restartsPerNight: 21 }).code).toBe('not_allowed');
    expect(team.refuse('lead', 'team.update', { quietHours: 'off' }).code).toBe('not_allowed');
    expect(team.refuse('ann', 'member.change', { memberId: 'ann', quietHours: 'off' }).code).toBe('not_allowed');
    expect(team.refuse('lead', 'member.join', { name: 'bob', quietHours }).code).toBe('not_allowed');
    team.as('lead', 'team.update', { restartsPerNight: 5 });
    team.as('@user', 'team.update', { restartsPerNight: 30, quietHours });
    expect(team.state.team).toMatchObject({ restartsPerNight: 30, quietHours });
  });
});

/** Ann, who keeps sending to Bob. */
function flooder(state: TeamState = teamOf('ann', 'bob').state) {
  let count = state.messages.size;
  const command = (at: number, by: Actor = 'ann') =>
    commandOf(
      'message.send',
      { messageId: `m${count++}`, toId: by === 'bob' ? 'ann' : 'bob', content: 'x' },
      { by, at },
    );
  const send = (at: number, by?: Actor): boolean => tryOne(state, command(at, by)) !== undefined;
  const sendUntilRefused = (at: number): number => {
    let sent = 0;
    while (send(at)) sent++;
    return sent;
  };
  return { state, command, send, sendUntilRefused };
}

describe('at the very moment', () => {
  test('a member that started as many as it may within a minute may start another one a minute after the first', () => {
    const team = teamOf('ann');
    const at = team.now;
    const refused = (spawns: number[]) => {
      const lead = team.state.members.get('lead') as MemberRecord;
      team.state.members.set('lead', { ...lead, spawns });
      try {
        requireSpawnPace(team.state, { by: 'lead', at });
      } catch (error) {
        return (error as TeamError).retryMs;
      }
      return 'may';
    };
    const times = (first: number, count = SPAWNS_PER_MINUTE) => [first, ...Array.from({ length: count - 1 }, () => at)];
    expect(refused(times(at - 59_999))).toBe(1);
    expect(refused(times(at - 60_000))).toBe('may');
    expect(refused(times(at, SPAWNS_PER_MINUTE - 1))).toBe('may');
    // Of a clock that was set back, nothing counts.
    expect(refused(times(at + 1))).toBe('may');
    expect(refused([])).toBe('may');
  });

  test('a member may send as soon as its debt is less than the burst', () => {
    const team = teamOf('ann');
    const { price, burst } = pricesOf(team.state);
    const ann = team.state.members.get('ann') as MemberRecord;
    const wait = (owed: number) => {
      team.state.members.set('ann', { ...ann, sendsPaidAt: 1_000_000 + owed });
      try {
        requireMessagePace(team.state, { by: 'ann', at: 1_000_000 });
      } catch (error) {
        return (error as TeamError).retryMs;
      }
      return 'may';
    };
    expect([wait(burst - price), wait(burst - price + 1), wait(burst), wait(burst + 1)]).toEqual([
      'may',
      1,
      price,
      'may',
    ]);
  });
});
