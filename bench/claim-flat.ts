import { join } from 'node:path';
import type { Command } from '../src/core/command.ts';
import { decide } from '../src/core/decide.ts';
import { evolve } from '../src/core/evolve.ts';
import { createState, keepChanges, noteChanges } from '../src/core/state.ts';
import type { TeamState } from '../src/core/state.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import { round } from './benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { interleave, keepInFlight, median, time } from './rounds.ts';
import { createTask, makeTeam, teamCommands, WORKERS } from './team.ts';

/** The cost of a claim in a long list, compared with a short one. */
export const claimFlat: Benchmark = {
  name: 'claim-flat',
  unit: 'us per claim and complete',
  about: 'the cost of a claim and its completion, 16 in flight, in one team of 10,000 tasks beside 100 teams of 100',
  target: 'at most 1.5 times, through the ledger on SQLite and for the rules alone',
  async run(scale) {
    using workspace = openWorkspace();
    const journal = sqliteJournal(join(workspace.folder, 'journal.db'), { exclusive: true });
    const total = scale.size(10_000);
    let teams = 0;

    /** Drains teams of one size until `total` tasks are done; returns us per task. */
    const drainTeams = async (size: number): Promise<number> => {
      let ms = 0;
      for (let done = 0; done < total; done += size) {
        const teamId = `team-${++teams}`;
        const ledger = new Ledger(journal, { exclusive: true });
        const list = new SharedTaskList(ledger);
        await makeTeam(ledger, teamId, size);
        ms += await time(() =>
          keepInFlight(16, size, async (i) => {
            const worker = WORKERS[i % WORKERS.length] as string;
            const task = await list.claimNextTask(teamId, worker);
            if (task) await list.completeTask(teamId, task.id, worker, { epoch: task.epoch });
          }),
        );
        await checkDone(ledger, teamId, size);
        list.close();
        await ledger.close();
      }
      return (ms * 1000) / total;
    };

    try {
      const through = await interleave(scale, () => drainTeams(100), { long: () => drainTeams(total) });
      const alone = await interleave(scale, () => drainStates(100, total), { long: () => drainStates(total, total) });
      const ratio = median(through.ratios.long);
      const rules = median(alone.ratios.long);
      return {
        value: median(through.parts.long),
        limit: 'the same with 100 tasks',
        limitValue: median(through.limit),
        ratio,
        peers: [],
        targets: [
          { what: 'through the ledger, times the cost at 100 tasks', value: ratio, atMost: 1.5 },
          { what: 'the rules alone, times the cost at 100 tasks', value: rules, atMost: 1.5 },
        ],
        more: { rulesUs: { 100: round(median(alone.limit)), 10000: round(median(alone.parts.long)) } },
      };
    } finally {
      await journal.close();
    }
  },
};

async function checkDone(ledger: Ledger, teamId: string, tasks: number): Promise<void> {
  const completed = await ledger.view(teamId, (state) => state.index.counts.completed);
  if (completed !== tasks) throw new Error(`${completed} of ${tasks} tasks completed in ${teamId}`);
}

/** The same without a journal: decide and evolve, with undo for each step. */
function drainStates(size: number, total: number): number {
  let ms = 0;
  for (let done = 0; done < total; done += size) {
    const state = createState('team');
    for (const command of teamCommands('team')) step(state, { at: 0, ...command });
    for (let i = 1; i <= size; i++) step(state, { at: 0, ...createTask(i) });
    const start = performance.now();
    for (let i = 0; i < size; i++) {
      const by = WORKERS[i % WORKERS.length] as string;
      const [claimed] = step(state, { type: 'task.claim', at: i, by });
      if (claimed?.type !== 'task:claimed') throw new Error('No task was left before all were claimed');
      step(state, { type: 'task.complete', at: i, by, taskId: claimed.taskId, epoch: claimed.epoch });
    }
    ms += performance.now() - start;
    if (state.index.counts.completed !== size) throw new Error('Not every task was completed');
  }
  return (ms * 1000) / total;
}

function step(state: TeamState, command: Command) {
  noteChanges(state);
  const events = decide(state, command);
  for (const event of events) evolve(state, event);
  keepChanges(state);
  return events;
}
