import { describe, expect, test } from 'vitest';
import { Replica } from '../../src/client/replica.ts';
import { evolve } from '../../src/core/evolve.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { createState } from '../../src/core/state.ts';
import type { TeamState } from '../../src/core/state.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';

const by = '@user';

/** A team with a bit of everything, batch by batch. */
async function makeHistory(): Promise<{ seq: number; events: TeamEvents }[]> {
  const ledger = new Ledger(memoryJournal(), { exclusive: true });
  const steps: NewCommand[] = [
    {
      type: 'team.create',
      by,
      name: 'demo',
      description: '',
      leadName: 'lead',
      leadSessionId: 'none',
      leadAgentType: 'person',
      teammateMode: 'auto',
      resolvedBackend: 'in-process',
      maxTeammates: 8,
      delegateMode: false,
    },
    ...['One', 'Two', 'Three'].map((title, i): NewCommand => ({
      type: 'task.create',
      by,
      title,
      description: '',
      priority: 'medium',
      dependencies: i === 0 ? [] : ['1'],
      onDependencyFailure: 'block',
    })),
    { type: 'task.claim', by: 'lead', taskId: '1' },
    { type: 'task.complete', by: 'lead', taskId: '1', result: 'fine' },
    { type: 'note.add', by, text: 'Remember', tags: [] },
    { type: 'task.delete', by, taskId: '3' },
    { type: 'task.reopen', by, taskId: '1' },
  ];
  for (const step of steps) await ledger.execute('demo', step, () => undefined);
  const history = await Array.fromAsync(ledger.read('demo', 0));
  await ledger.close();
  return history;
}

type TeamEvents = Parameters<Replica['apply']>[0]['events'];

/** The content of a state, in order. */
function picture({ team, tasks, members, notes, index, nextTask }: TeamState): object {
  const waits = [...index.waits].filter(([, count]) => count > 0);
  return structuredClone({ team, tasks: [...tasks], members: [...members], notes: [...notes], nextTask, waits });
}

describe('a copy of a team', () => {
  test('shows the team at every moment, in any order of reading', async () => {
    const history = await makeHistory();
    const replica = new Replica('demo');
    for (const batch of history) expect(replica.apply(batch)).toBe(true);
    const straight = createState('demo');
    const pictures = [
      picture(straight),
      ...history.map(({ events }) => {
        for (const event of events) evolve(straight, event);
        return picture(straight);
      }),
    ];
    expect(picture(replica.live)).toEqual(pictures.at(-1));
    const last = history.length;
    for (const seq of [last, 0, 3, 1, last - 1, 2, last, last - 2, 5, 4]) {
      expect(picture(replica.at(seq))).toEqual(pictures[seq]);
    }
    expect(picture(replica.at(99))).toEqual(pictures.at(-1));
    expect(picture(replica.live)).toEqual(pictures.at(-1));
  });

  test('applies a batch once and refuses one that comes too early', async () => {
    const [first, second, third] = (await makeHistory()) as [Batch, Batch, Batch];
    const replica = new Replica('demo');
    expect(replica.apply(first)).toBe(true);
    expect(replica.apply(first)).toBe(false);
    expect(() => replica.apply(third)).toThrow('expected batch 2, got 3');
    expect(replica.apply(second)).toBe(true);
    expect(replica.seq).toBe(2);
  });
});

describe('a copy that begins with a snapshot', () => {
  /** The state after a batch, as a snapshot brings it. */
  function stateAt(history: readonly Batch[], seq: number): TeamState {
    const state = createState('demo');
    for (const { events } of history.slice(0, seq)) for (const event of events) evolve(state, event);
    return openSnapshot('demo', takeSnapshot(state)) as TeamState;
  }

  test.for([0, 1, 4, 8])(
    'is right at once, and whole when all older batches are here (newest after %d)',
    async (after) => {
      const history = await makeHistory();
      const taken = history.length - 1;
      const replica = new Replica('demo', { state: stateAt(history, taken), seq: taken, after });
      const now = (seq: number): object => picture(stateAt(history, seq));
      expect(picture(replica.live)).toEqual(now(taken));
      expect([replica.seq, replica.isWhole, replica.recent]).toEqual([taken, false, []]);
      // The last batch comes live, while older ones are still missing; each comes twice, as after a lost connection.
      for (const batch of history.slice(after)) {
        expect([replica.apply(batch), replica.apply(batch)]).toEqual([true, false]);
      }
      expect(picture(replica.live)).toEqual(now(history.length));
      expect(replica.recent).toEqual(history.slice(after));
      expect(replica.isWhole).toBe(after === 0);
      for (const batch of history.slice(0, after)) {
        expect([replica.addOlder(batch), replica.addOlder(batch)]).toEqual([true, false]);
      }
      expect(replica.isWhole).toBe(true);
      expect(replica.recent).toEqual(history);
      expect(replica.recent).toBe(replica.batches);
      expect(picture(replica.live)).toEqual(now(history.length));
      for (const seq of [3, history.length, 1, 6]) expect(picture(replica.at(seq))).toEqual(now(seq));
    },
  );

  test('older batches may be complete before the newest arrive', async () => {
    const history = await makeHistory();
    const last = history.length;
    const replica = new Replica('demo', { state: stateAt(history, last), seq: last, after: 4 });
    for (const batch of history.slice(0, 4)) replica.addOlder(batch);
    expect([replica.isWhole, replica.recent]).toEqual([false, []]);
    for (const batch of history.slice(4)) replica.apply(batch);
    expect([replica.isWhole, replica.recent]).toEqual([true, history]);
    expect(picture(replica.live)).toEqual(picture(stateAt(history, last)));
  });

  test('refuses a gap among older batches, and moves to a moment in slices', async () => {
    const history = await makeHistory();
    const replica = new Replica('demo', { state: stateAt(history, 8), seq: 8, after: 6 });
    expect(() => replica.addOlder(history[1] as Batch)).toThrow('expected batch 1, got 2');
    for (const batch of history.slice(0, 6)) replica.addOlder(batch);
    for (const batch of history.slice(6)) replica.apply(batch);
    expect(replica.moveTo(5, () => false)).toBe(false);
    expect(replica.moveTo(5, () => true)).toBe(true);
    expect(picture(replica.at(5))).toEqual(picture(stateAt(history, 5)));
  });
});

type Batch = Parameters<Replica['apply']>[0];
