import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { takeSnapshot } from '../src/core/snapshot.ts';
import type { TeamState } from '../src/core/state.ts';
import { viewTeam } from '../src/core/view.ts';
import type { Journal } from '../src/journal/journal.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { Mailbox } from '../src/ledger/mailbox.ts';
import { SharedTaskList } from '../src/ledger/task-list.ts';
import { round } from './benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { readAndParse } from './limits.ts';
import { interleave, keepInFlight, median, time } from './rounds.ts';
import { makeTeam, teamCommands, WORKERS } from './team.ts';

/** The teams without and with a snapshot. */
const PLAIN = 'plain';
const KEPT = 'kept';

/** The cost of opening a long team, and of listing many teams. */
export const open: Benchmark = {
  name: 'open',
  unit: 'ms',
  about: 'a ledger opens a team of 10,000 tasks and 10,000 messages (32,000 events), by replay and from a snapshot',
  target:
    'replay at most 2.5 times, snapshot at most 1.3 times reading and parsing the bytes of the events; 1,000 teams listed in 100 ms',
  async run(scale) {
    using workspace = openWorkspace();
    const { folder, disk } = workspace;
    const journal = sqliteJournal(join(folder, 'journal.db'));
    const many = sqliteJournal(join(folder, 'many.db'));
    const expected = { tasks: scale.size(10_000), messages: scale.size(10_000) };
    const teams = scale.size(1_000);

    try {
      for (const teamId of [PLAIN, KEPT]) await fillTeam(journal, teamId, expected);
      const body = await keepSnapshot(journal);
      const written = await writeEvents(journal, PLAIN, folder);
      await makeTeams(many, teams);

      const found = await interleave(scale, () => readAndParse(written.path), {
        replay: () => openTeam(journal, PLAIN, expected),
        snapshot: () => openTeam(journal, KEPT, expected),
        list: () => listTeams(many, teams),
        show: () => showTeams(many, teams),
      });
      const replay = median(found.ratios.replay);
      return {
        value: median(found.parts.replay),
        limit: 'reading the same bytes and JSON.parse',
        limitValue: median(found.limit),
        ratio: replay,
        peers: [],
        targets: [
          { what: 'by replay, times the limit', value: replay, atMost: 2.5 },
          { what: 'from a snapshot, times the limit', value: median(found.ratios.snapshot), atMost: 1.3 },
          { what: `ms to list ${teams} teams`, value: median(found.parts.list), atMost: 100 },
        ],
        more: {
          snapshotMs: round(median(found.parts.snapshot)),
          openAndShowTeamsMs: round(median(found.parts.show)),
          events: written.events,
          batches: written.batches,
          eventBytes: written.bytes,
          snapshotBytes: body.length,
          disk,
        },
      };
    } finally {
      await journal.close();
      await many.close();
    }
  },
};

/** Opens a team as a daemon that starts does, and returns the milliseconds. */
export async function openTeam(journal: Journal, teamId: string, expected: Sizes): Promise<number> {
  const ledger = new Ledger(journal, { exclusive: true });
  let seen = { tasks: 0, messages: 0 };
  const ms = await time(async () => (seen = await ledger.view(teamId, sizes)));
  if (seen.tasks !== expected.tasks || seen.messages !== expected.messages) {
    throw new Error(`${teamId} opened with ${seen.tasks} tasks and ${seen.messages} messages`);
  }
  return ms;
}

/** Writes all batches of a team to a file, a line of JSON each: what has to be read and parsed at least. */
export async function writeEvents(journal: Journal, teamId: string, folder: string) {
  const path = join(folder, 'events.jsonl');
  const lines = { path, events: 0, batches: 0, bytes: 0 };
  const file = openSync(path, 'w');
  for await (const { events } of journal.read(teamId, 0)) {
    const line = JSON.stringify(events);
    writeSync(file, lines.batches++ === 0 ? line : `\n${line}`);
    lines.events += events.length;
    lines.bytes += line.length;
  }
  closeSync(file);
  return lines;
}

/** Makes a team in the middle of its work: six of ten tasks are done, and there is a message for every task. */
export async function fillTeam(journal: Journal, teamId: string, { tasks, messages }: Sizes): Promise<void> {
  const ledger = new Ledger(journal, { exclusive: true, snapshotEvery: Infinity });
  const list = new SharedTaskList(ledger);
  const mailbox = new Mailbox(ledger);
  await makeTeam(ledger, teamId, tasks);
  const worker = (i: number) => WORKERS[i % WORKERS.length] as string;
  await keepInFlight(64, (tasks * 6) / 10, async (i) => {
    const task = await list.claimNextTask(teamId, worker(i));
    const result = `The parser of file ${i} uses the schema.`;
    if (task) await list.completeTask(teamId, task.id, worker(i), { result });
  });
  await keepInFlight(64, messages, (i) =>
    mailbox.send(teamId, worker(i), {
      toId: 'lead',
      content: `Message ${i}: the tests of the parser pass on my branch.`,
    }),
  );
  mailbox.close();
  list.close();
  await ledger.close();
}

async function keepSnapshot(journal: Journal): Promise<string> {
  const ledger = new Ledger(journal, { exclusive: true, snapshotEvery: Infinity });
  const snapshot = await ledger.view(KEPT, (state, seq) => ({ seq, body: takeSnapshot(state) }));
  await journal.saveSnapshot(KEPT, snapshot);
  return snapshot.body;
}

async function makeTeams(journal: Journal, count: number): Promise<void> {
  const ledger = new Ledger(journal, { exclusive: true });
  await keepInFlight(64, count, (i) => ledger.execute(`team-${i}`, teamCommands(`team-${i}`), () => undefined));
  await ledger.close();
}

async function listTeams(journal: Journal, count: number): Promise<number> {
  let names: string[] = [];
  const ms = await time(async () => (names = await new Ledger(journal).teams()));
  if (names.length !== count) throw new Error(`${names.length} of ${count} teams listed`);
  return ms;
}

/** Opens every team and shows it with its members: the cost of a first look at all of them. */
async function showTeams(journal: Journal, count: number): Promise<number> {
  const ledger = new Ledger(journal, { exclusive: true });
  return time(async () => {
    const teams = await Promise.all((await ledger.teams()).map((teamId) => ledger.view(teamId, viewTeam)));
    if (teams.length !== count) throw new Error(`${teams.length} of ${count} teams shown`);
  });
}

export interface Sizes {
  readonly tasks: number;
  readonly messages: number;
}

function sizes(state: TeamState): Sizes {
  return { tasks: state.tasks.size, messages: state.messages.size };
}
