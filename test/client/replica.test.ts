import { describe, expect, test } from 'vitest';
import { Replica } from '../../src/client/replica.ts';
import { evolve } from '../../src/core/evolve.ts';
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

type Batch = Parameters<Replica['apply']>[0];
