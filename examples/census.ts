/**
 * A team of four in-process workers takes a census of this source tree: one task per folder, one that gathers, one that
 * reports. All calls go through the real ledger, on an SQLite journal in a temporary directory.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTeamInput, JoinInput, Ledger, Mailbox, SharedTaskList, sqliteJournal } from '../src/index.ts';
import type { SharedTask } from '../src/index.ts';
import { liveTable } from './live-table.ts';

const TEAM = 'census';
const WORKERS = ['ada', 'grace', 'barbara', 'radia'];
const source = join(import.meta.dirname, '..', 'src');

const home = await mkdtemp(join(tmpdir(), 'troupe-demo-'));
const journal = sqliteJournal(join(home, 'journal.db'));
const ledger = new Ledger(journal);
const tasks = new SharedTaskList(ledger);
const mailbox = new Mailbox(ledger);
const started = performance.now();
let waiting: Promise<void> | undefined;
try {
  await createTeam();
  const report = await createGraph();
  const table = liveTable(await tasks.listTasks(TEAM));
  for (const event of ['task:claimed', 'task:completed', 'task:unblocked', 'task:failed'] as const) {
    tasks.on(event, table.update);
  }
  await Promise.all(WORKERS.map(work));
  await printSummary(report);
} finally {
  tasks.close();
  mailbox.close();
  await ledger.close();
  await journal.close();
  await rm(home, { recursive: true });
}

async function createTeam(): Promise<void> {
  const team = CreateTeamInput.parse({ name: TEAM, description: 'Count what is in src/' });
  await ledger.execute(TEAM, { type: 'team.create', by: '@user', ...team }, () => undefined);
  for (const name of WORKERS) {
    await ledger.execute(
      TEAM,
      { type: 'member.join', by: 'lead', ...JoinInput.parse({ name, role: 'counter' }) },
      () => undefined,
    );
  }
}

/** One task per folder with TypeScript files; the report depends on all of them. */
async function createGraph(): Promise<SharedTask> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const folders = [
    ...new Set(entries.filter((entry) => entry.name.endsWith('.ts')).map((entry) => entry.parentPath)),
  ].sort();
  const counts: string[] = [];
  for (const folder of folders) {
    const task = await tasks.createTask(TEAM, 'lead', {
      title: `Count ${folder.slice(source.length + 1) || 'src'}`,
      metadata: { folder },
    });
    counts.push(task.id);
  }
  const gather = await tasks.createTask(TEAM, 'lead', { title: 'Add it up', dependencies: counts });
  return tasks.createTask(TEAM, 'lead', { title: 'Write the report', dependencies: [gather.id], priority: 'high' });
}

/** Claims the next task until all are done, and reports to the lead. If none is ready, sleeps until a task ends. */
async function work(name: string): Promise<void> {
  for (let done = 0; ;) {
    // Subscribes before it looks, so that no change is missed.
    const change = nextChange();
    const task = await tasks.claimNextTask(TEAM, name);
    if (task) {
      await tasks.completeTask(TEAM, task.id, name, { result: await execute(task), epoch: task.epoch });
      done++;
    } else if (await isDone()) {
      await mailbox.send(TEAM, name, { toId: 'lead', content: `I did ${done} tasks` });
      return;
    } else await change;
  }
}

/** Wakes all waiting workers when a task ends. */
function nextChange(): Promise<void> {
  return (waiting ??= new Promise<void>((resolve) => tasks.once('task:completed', () => resolve())).then(() => {
    waiting = undefined;
  }));
}

async function execute(task: SharedTask): Promise<string> {
  const folder = task.metadata?.['folder'];
  if (typeof folder === 'string') return String(await countLines(folder));
  if (task.title === 'Add it up') {
    const done = await Promise.all(task.dependencies.map((id) => tasks.getTask(TEAM, id)));
    return String(done.reduce((sum, one) => sum + Number(one?.result ?? 0), 0));
  }
  const total = await tasks.getTask(TEAM, task.dependencies[0] ?? '');
  return `src/ has ${total?.result} lines of TypeScript`;
}

async function countLines(folder: string): Promise<number> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
}

async function isDone(): Promise<boolean> {
  const open = await tasks.listTasks(TEAM, { status: ['pending', 'blocked', 'in_progress'] });
  return open.length === 0;
}

async function printSummary(report: SharedTask): Promise<void> {
  const all = await tasks.listTasks(TEAM);
  const completed = all.filter((task) => task.status === 'completed');
  const mail = await mailbox.getInbox(TEAM, 'lead');
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  const shares = WORKERS.map((name) => `${name} ${completed.filter((task) => task.assigneeId === name).length}`);
  console.log(`\n${(await tasks.getTask(TEAM, report.id))?.result}.`);
  console.log(
    `${completed.length} of ${all.length} tasks completed in ${seconds} s (${shares.join(', ')}); ${mail.length} messages to the lead.`,
  );
  if (completed.length !== all.length) process.exitCode = 1;
}
