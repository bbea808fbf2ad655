import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { round } from './benchmark.ts';
import type { Benchmark, Scale } from './benchmark.ts';
import { startClaimers, startDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { interleave, median } from './rounds.ts';
import { WORKERS } from './team.ts';

/** The number of warm-up claims. */
const WARM_UP = 5_000;

/** Claims in Claude Code's own files: by its own algorithm, and through a joined team. */
export const bridgeClaim: Benchmark = {
  name: 'bridge-claim',
  unit: 'claims/s',
  about: "claims of 1,000 tasks in Claude Code's files: 8 processes, while foreign writers take its locks",
  target: 'at least 10 times its own algorithm at 200 tasks, 30 times at 1,000',
  run: runBridge,
};

async function runBridge(scale: Scale): ReturnType<Benchmark['run']> {
  using workspace = openWorkspace();
  const { folder, disk } = workspace;
  const root = join(folder, 'claude');
  process.env['CLAUDE_CONFIG_DIR'] = root;
  await using daemon = await startDaemon(folder);
  await using ours = await startClaimers(daemon, 'unix', scale);
  await using theirs = await startProcesses('native-claimer.ts', WORKERS);
  await using writers = await startProcesses('native-writer.ts', ['one', 'two']);
  let teams = 0;

  const meanwhile = async <R>(tasks: string, count: number, work: () => Promise<R>): Promise<R> => {
    for (const writer of writers.list) writer.send({ folder: tasks, tasks: count });
    try {
      return await work();
    } finally {
      const stopped = writers.list.map((writer) => once(writer, 'message'));
      for (const writer of writers.list) writer.send({});
      await Promise.all(stopped);
    }
  };
  const byOurs = async (count: number): Promise<number> => {
    const name = `ours-${++teams}`;
    const tasks = makeNative(root, name, count);
    await daemon.client.call('native.join', { name });
    for (const worker of WORKERS) await daemon.client.call('member.add', { teamId: name, name: worker });
    const { ids, ms } = await meanwhile(tasks, count, () => ours.claim(name, 1));
    check(tasks, ids, count);
    await daemon.client.call('native.leave', { teamId: name });
    return (count * 1000) / ms;
  };
  const byTheirs = async (count: number): Promise<number> => {
    const tasks = makeNative(root, `theirs-${++teams}`, count);
    const { ids, ms } = await meanwhile(tasks, count, async () => {
      const start = performance.now();
      const answers = theirs.list.map(async (one) => (await once(one, 'message'))[0] as string[]);
      for (const one of theirs.list) one.send(tasks);
      return { ids: (await Promise.all(answers)).flat(), ms: performance.now() - start };
    });
    check(tasks, ids, count);
    return (count * 1000) / ms;
  };
  const few = scale.size(200);
  const many = scale.size(1_000);
  // V8 compiles the code of a claim during the first few thousand. The cold figure is reported separately.
  const atFirst = await byOurs(few);
  for (let left = scale.size(WARM_UP); left > 0; left -= many) await byOurs(many);
  const rounds = { ...scale, rounds: Math.min(scale.rounds, 5) };
  const small = await interleave(rounds, () => byTheirs(few), { ours: () => byOurs(few) });
  // The peer takes half a minute for a thousand: one run before ours and one after it are enough.
  const before = await byTheirs(many);
  const large: number[] = [];
  for (let left = rounds.rounds; left > 0; left--) large.push(await byOurs(many));
  const peer = (before + (await byTheirs(many))) / 2;
  const value = median(large);
  return {
    value,
    limit: 'its own algorithm, 8 processes',
    limitValue: peer,
    ratio: value / peer,
    peers: [{ name: 'its own algorithm, 200 tasks', value: median(small.limit), ratio: median(small.ratios.ours) }],
    targets: [
      { what: 'times its own algorithm at 200 tasks', value: median(small.ratios.ours), atLeast: 10 },
      { what: 'times its own algorithm at 1,000 tasks', value: value / peer, atLeast: 30 },
    ],
    more: { at200: median(small.parts.ours), at200AtFirst: round(atFirst), disk },
  };
}

/** Makes a native team with `count` tasks; returns the folder of its tasks. */
function makeNative(root: string, name: string, count: number): string {
  const tasks = join(root, 'tasks', name);
  mkdirSync(join(root, 'teams', name, 'inboxes'), { recursive: true });
  mkdirSync(tasks, { recursive: true });
  const lead = { name: 'team-lead', agentId: `team-lead@${name}` };
  const config = { name, leadAgentId: lead.agentId, members: [lead] };
  writeFileSync(join(root, 'teams', name, 'config.json'), JSON.stringify(config, undefined, 2));
  for (let id = 1; id <= count; id++) {
    const subject = `Task ${id}: move the parser of the settings file to the new schema`;
    const description = `Read settings/parser-${id}.ts, replace the hand-written checks by the schema, and keep every message.`;
    const task = { id: String(id), subject, description, status: 'pending', blocks: [], blockedBy: [] };
    writeFileSync(join(tasks, `${id}.json`), JSON.stringify(task, undefined, 2));
  }
  return tasks;
}

/** Checks that every task went to one process, and that its file names an owner. */
function check(tasks: string, ids: readonly string[], count: number): void {
  if (new Set(ids).size !== ids.length) throw new Error(`${ids.length - new Set(ids).size} double claims`);
  if (ids.length !== count) throw new Error(`${ids.length} of ${count} tasks claimed`);
  for (const file of readdirSync(tasks).filter((name) => name.endsWith('.json'))) {
    const task = JSON.parse(readFileSync(join(tasks, file), 'utf8')) as { owner?: string; status: string };
    if (task.owner === undefined || task.status !== 'in_progress') throw new Error(`${file} says that nobody has it`);
  }
}

interface Processes extends AsyncDisposable {
  readonly list: readonly ChildProcess[];
}

async function startProcesses(script: string, names: readonly string[]): Promise<Processes> {
  const list = names.map((name) => fork(join(import.meta.dirname, 'processes', script), [name], { execArgv: [] }));
  await Promise.all(list.map((child) => once(child, 'message')));
  return {
    list,
    async [Symbol.asyncDispose]() {
      const gone = list.filter((child) => child.connected).map((child) => (child.disconnect(), once(child, 'exit')));
      await Promise.all(gone);
    },
  };
}
