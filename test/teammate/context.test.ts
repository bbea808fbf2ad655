import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentEvent, Turn } from '../../src/agents/agent.ts';
import { functionAgent } from '../../src/agents/function.ts';
import { TeamError } from '../../src/core/errors.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { localDoor } from '../../src/teammate/local-door.ts';
import { runTeammate } from '../../src/teammate/teammate.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HANG_MS } from '../until.ts';

interface Started {
  readonly house: House;
  readonly turns: Turn[];
  /** The number of conversations. */
  readonly conversations: () => number;
}

/** A member whose agent does each turn as the test says, and may report its state. */
async function start(
  memberId: string,
  doTurn: (turn: Turn, emit: (event: AgentEvent) => void, count: number) => string,
): Promise<Started> {
  const house = await openTeam(['ada']);
  const folder = temporaryFolder();
  const turns: Turn[] = [];
  const stop = new AbortController();
  const ended = runTeammate({
    door: localDoor(house.services, { teamId: 'demo', memberId, isLead: memberId === 'lead' }),
    agent: functionAgent((turn, { emit }) => doTurn(turn, emit, turns.push(turn))),
    start: { teamId: 'demo', memberId, cwd: folder, env: {}, role: '', mode: 'edit' },
    transcriptPath: (sessionId) => join(folder, `${sessionId}.jsonl`),
    signal: stop.signal,
    account: 'function@ada',
    // A pause outlasts the test.
    retryAfter: () => 10 * HANG_MS,
    onError: () => {},
  });
  onTestFinished(async () => {
    stop.abort();
    await house.call('team.close', { teamId: 'demo', force: true });
    await ended;
  });
  return { house, turns, conversations: () => readdirSync(folder).length };
}

const full: AgentEvent = { type: 'usage', usage: { ...NO_USAGE, turns: 1 }, context: { used: 95_000, size: 100_000 } };

const completed = async (house: House): Promise<number> => {
  const status = await house.call<{ tasks: Record<string, number> }>('team.status', { teamId: 'demo' });
  return status.tasks['completed'] ?? 0;
};

describe('a conversation that has become too long', () => {
  test('is followed by a new one that knows the team, its own results and notes', async () => {
    const { house, turns, conversations } = await start('ada', (_turn, emit, count) => {
      if (count === 1) emit(full);
      return `result ${count}`;
    });
    await house.call('note.add', { teamId: 'demo', text: 'the API wants UTC' }, 'ada');
    await house.call('task.create', { teamId: 'demo', title: 'First' });
    await expect.poll(() => completed(house)).toBe(1);
    await house.call('task.create', { teamId: 'demo', title: 'Second' });
    await expect.poll(() => completed(house)).toBe(2);
    expect(conversations()).toBe(2);
    expect(turns[1]?.text).toMatch(/^Your conversation became too long/);
    for (const part of ['Team demo', '#1 First: result 1', 'the API wants UTC', 'Task #2: Second']) {
      expect(turns[1]?.text).toContain(part);
    }
  });

  test('that filled up in the middle of a turn loses nothing: the turn is repeated in a new one', async () => {
    const { house, turns, conversations } = await start('ada', (_turn, emit, count) => {
      if (count > 1) return 'done after all';
      emit(full);
      throw new Error('prompt is too long');
    });
    await house.call('task.create', { teamId: 'demo', title: 'Long' });
    await expect.poll(() => completed(house)).toBe(1);
    expect(turns[1]?.text).toContain('Task #1: Long');
    expect(conversations()).toBe(2);
  });

  test('of a lead that compacted it: its next turn contains the goal and the state of the team again', async () => {
    const { house, turns } = await start('lead', (_turn, emit, count) => {
      if (count === 1) emit({ type: 'compacted' });
      return 'heard';
    });
    await expect.poll(() => turns.length).toBe(1);
    await house.call('task.create', { teamId: 'demo', title: 'Open' });
    await house.call('message.send', { teamId: 'demo', toId: 'lead', content: 'hello' }, 'ada');
    await expect.poll(() => turns.length).toBe(2);
    expect(turns[1]?.digest).toContain('#1 [pending] Open');
    await house.call('message.send', { teamId: 'demo', toId: 'lead', content: 'again' }, 'ada');
    await expect.poll(() => turns.length).toBe(3);
    expect(turns[2]?.digest).not.toContain('#1 [pending] Open');
  });
});

test('messages of a turn that failed are shown once more, marked, and not again', async () => {
  const { house, turns } = await start('ada', () => {
    throw new Error('broken');
  });
  await house.call('message.send', { teamId: 'demo', toId: 'ada', content: 'hello' }, 'lead');
  await expect.poll(() => turns.length).toBe(2);
  expect(turns.map(({ messages }) => messages.map(({ redeliveries }) => redeliveries))).toEqual([[0], [1]]);
  await house.call('task.create', { teamId: 'demo', title: 'Next' });
  await expect.poll(() => turns.length).toBe(3);
  expect(turns[2]?.messages).toEqual([]);
});

describe('an overloaded model', () => {
  test('keeps a member waiting, visibly, until it must stop', async () => {
    const { house, turns } = await start('ada', () => {
      throw new TeamError('overloaded', '529 overloaded');
    });
    await house.call('task.create', { teamId: 'demo', title: 'Later' });
    const waiting = async (): Promise<unknown> => {
      const { metadata } = await house.call<{ metadata?: { waiting?: { reason: string } } }>('member.show', {
        teamId: 'demo',
        memberId: 'ada',
      });
      return metadata?.waiting?.reason;
    };
    await expect.poll(waiting).toBe('overloaded');
    expect(turns).toHaveLength(1);
    expect(await house.call('task.show', { teamId: 'demo', taskId: '1' })).toMatchObject({ status: 'in_progress' });
    await house.call('shutdown.request', { teamId: 'demo', memberId: 'ada' });
    await expect
      .poll(async () => (await house.call<{ status: string }>('task.show', { teamId: 'demo', taskId: '1' })).status)
      .toBe('pending');
  });
});
