import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { agentProgram } from '../test/agents/installed.ts';
import { anthropicServer } from '../test/models/anthropic.ts';
import type { ModelRequest } from '../test/models/script.ts';
import type { Benchmark } from './benchmark.ts';
import { startDaemon } from './daemon.ts';
import type { BenchDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';

const TEAM = 'demo';
const GOAL = 'See to it that all tasks are done.';
const WORKER = join(import.meta.dirname, '..', 'test', 'fixtures', 'agents', 'quick.js');

/** Characters per token: the same for both sides, so it cancels out. */
const TOKEN = 4;

/** How much a lead reads to know that its team did the work. */
export const leadTokens: Benchmark = {
  name: 'lead-tokens',
  unit: 'tokens',
  about: 'coordination that reaches the lead, a real Claude Code, for 100 tasks done by 8 teammates',
  target: "at most 0.2x of Claude Code's idle and completion messages for the same run",
  async run(scale) {
    const program = agentProgram('claude');
    if (program === undefined) throw new Error('Claude Code is not installed: node scripts/prepare-tests.ts does it');
    const count = Math.max(16, scale.size(100));
    using workspace = openWorkspace();
    const model = await anthropicServer(() => ({ text: 'I see.' }));
    await using daemon = await startDaemon(workspace.folder);
    try {
      const home = join(workspace.folder, 'lead-home');
      mkdirSync(home);
      const env = { HOME: home, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' };
      await daemon.client.call('team.create', {
        name: TEAM,
        leadAgent: { kind: 'claude', command: [program], env },
        leadPrompt: GOAL,
        cwd: home,
      });
      await until(() => ofLead(model.requests).length > 0);
      await work(daemon, count);
      await until(() => newsIn(model.requests).some((text) => text.includes(`${count} completed`)));
      const news = newsIn(model.requests);
      const ours = news.join('').length / TOKEN;
      const theirs = (await theirMessages(daemon)).join('').length / TOKEN;
      return {
        value: ours,
        limit: "Claude Code's idle and completion messages for the same run",
        limitValue: theirs,
        ratio: ours / theirs,
        peers: [{ name: "Claude Code's own teams, modelled", value: theirs, ratio: ours / theirs }],
        targets: [{ what: 'times their tokens', value: ours / theirs, atMost: 0.2 }],
        // Nothing is timed, and the counts are the same each time.
        more: { rounds: 1, tasks: count, turnsOfTheLead: news.length, turnsOfTheirLead: 2 * count },
      };
    } finally {
      await model.close();
    }
  },
};

async function work({ client }: BenchDaemon, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) await client.call('task.create', { teamId: TEAM, title: `Port module ${i}` });
  for (let i = 1; i <= 8; i++) {
    const agent = { kind: 'exec' as const, command: [process.execPath, WORKER] };
    await client.call('member.spawn', { teamId: TEAM, name: `worker-${i}`, agent });
  }
  await until(async () => {
    const { tasks } = await client.call('team.status', { teamId: TEAM });
    return tasks['completed'] === count;
  });
}

function ofLead(requests: readonly ModelRequest[]): ModelRequest[] {
  return requests.filter(({ system, turns }) => system.includes('the lead of the team') && turns.length > 0);
}

/** The texts that the lead got after its goal, each once. */
function newsIn(requests: readonly ModelRequest[]): string[] {
  const [longest] = ofLead(requests).sort((a, b) => b.turns.length - a.turns.length);
  const told = longest?.turns.filter(({ role }) => role === 'user').map(({ text }) => text) ?? [];
  return told.filter((text) => text.includes('News of your team'));
}

/**
 * What Claude Code's own teams send for the same tasks: a message at the end of each, and a notice that the teammate is
 * idle.
 */
async function theirMessages({ client }: BenchDaemon): Promise<string[]> {
  const tasks = await client.call('task.list', { teamId: TEAM, limit: 10_000 });
  return tasks.flatMap(({ id, title, result, assigneeId, completedAt }) => {
    const wrap = (text: string): string =>
      `<teammate-message teammate_id="${assigneeId}" color="blue">\n${text}\n</teammate-message>`;
    const idle = {
      type: 'idle_notification',
      from: assigneeId,
      timestamp: completedAt,
      idleReason: 'available',
      result,
    };
    return [wrap(`Task #${id} (${title}) is complete: ${result}`), wrap(JSON.stringify(idle))];
  });
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + 180_000;
  while (!(await condition())) {
    if (performance.now() > giveUp) throw new Error('It did not come to an end within three minutes');
    await pause(50);
  }
}
