import { describe, expect, test } from 'vitest';
import { SYSTEM, USER } from '../../../src/core/actor.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import type { HostCard } from '../../../src/journal/hosts.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { rankHosts } from '../../../src/runtime/hosts/placement.ts';
import { whyUnplaced } from '../../../src/runtime/hosts/waiting.ts';
import { openLedger } from '../../ledger/places.ts';

const card = (name: string, more: Partial<HostCard> = {}): HostCard => ({
  name,
  labels: [],
  agents: [],
  load: 0,
  home: name,
  version: '1',
  ...more,
});

async function makeTeam(joins: object[]) {
  const ledger = openLedger(memoryJournal());
  const team = CreateTeamInput.parse({ name: 'demo', leadSessionId: 's' });
  await ledger.execute('demo', { type: 'team.create', by: USER, ...team }, () => {});
  for (const input of joins) {
    const join = JoinInput.parse({ agent: { kind: 'exec', command: ['true'] }, status: 'spawning', ...input });
    await ledger.execute('demo', { type: 'member.join', by: USER, ...join }, () => {});
  }
  return ledger;
}

async function rank(
  hosts: HostCard[],
  joins: object[],
  memberId: string,
  placed: Record<string, string> = {},
): Promise<string[]> {
  const ledger = await makeTeam(joins);
  for (const [id, hostId] of Object.entries(placed)) {
    await ledger.execute('demo', { type: 'member.place', by: SYSTEM, memberId: id, hostId }, () => {});
  }
  return ledger.view('demo', (state) => rankHosts(state, memberId, hosts).map(({ name }) => name));
}

describe('a member is placed on', () => {
  test('the least loaded machine, then by name', async () => {
    const hosts = [card('c', { load: 1 }), card('b'), card('a')];
    expect(await rank(hosts, [{ name: 'm1' }], 'm1')).toEqual(['a', 'b', 'c']);
  });

  test('the machine that remains if earlier members of its team are assumed to be placed', async () => {
    const joins = ['m1', 'm2', 'm3', 'm4'].map((name) => ({ name }));
    const hosts = [card('a'), card('b'), card('c')];
    const first = await Promise.all(joins.map(async ({ name }) => (await rank(hosts, joins, name))[0]));
    expect(first).toEqual(['a', 'b', 'c', 'a']);
  });

  test('a machine with few members of its team, even if the machine has not reported them yet', async () => {
    const joins = ['m1', 'm2', 'm3'].map((name) => ({ name }));
    expect(await rank([card('a'), card('b')], joins, 'm3', { m1: 'a', m2: 'a' })).toEqual(['b', 'a']);
  });

  test('only the machine that it names, and one with its labels', async () => {
    const hosts = [card('a'), card('b', { labels: ['gpu', 'eu'], load: 9 })];
    expect(await rank(hosts, [{ name: 'm1', host: 'b' }], 'm1')).toEqual(['b']);
    expect(await rank(hosts, [{ name: 'm1', labels: ['gpu'] }], 'm1')).toEqual(['b']);
    expect(await rank(hosts, [{ name: 'm1', host: 'a', labels: ['gpu'] }], 'm1')).toEqual([]);
  });

  test('a machine that has its agent', async () => {
    const hosts = [card('a'), card('b', { agents: ['claude'] })];
    expect(await rank(hosts, [{ name: 'm1', agent: { kind: 'claude' } }], 'm1')).toEqual(['b']);
    expect(await rank(hosts, [{ name: 'm1', agent: { kind: 'claude', command: ['/opt/claude'] } }], 'm1')).toEqual([
      'a',
      'b',
    ]);
    expect(await rank(hosts, [{ name: 'm1', agent: { kind: 'acp', name: 'gemini' } }], 'm1')).toEqual([]);
  });
});

test('the advice for a waiting member can be pasted into a shell', async () => {
  const ledger = await makeTeam([{ name: 'm1', labels: ['gpu', "$(reboot) o'neill"] }]);
  const member = await ledger.view('demo', (state) => [...state.members.values()].find(({ name }) => name === 'm1'));
  expect(whyUnplaced(member!, [card('a')], 0)).toContain(
    "troupe serve --label gpu --label '$(reboot) o'\\''neill' on a machine that has it",
  );
});
