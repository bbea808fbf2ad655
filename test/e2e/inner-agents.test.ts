import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import type { Setup } from '../agents/setups.ts';
import type { ModelReply, ModelRequest } from '../models/script.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { commitAll, makeRepository, plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';

const missing = (['claude', 'codex'] as const).filter((name) => agentProgram(name) === undefined);

/** An ideal lead: gives the work to its teammate, waits, then answers. */
function leads(request: ModelRequest): ModelReply {
  const since = request.turns.slice(request.turns.findLastIndex(({ role }) => role === 'user'));
  if (since[0]?.text.includes('News of your team')) return { text: 'The parser is ported.' };
  if (since.some(({ role }) => role === 'tool')) return { text: 'Now I wait.' };
  const name = request.tools.find((one) => one.endsWith('TaskCreate')) ?? 'TaskCreate';
  return { calls: [{ name, input: { subject: 'Write it', description: 'the parser', owner: 'coder' } }] };
}

/** Writes a file in its own folder, then says so. */
function writes(request: ModelRequest): ModelReply {
  const last = request.turns.at(-1);
  if (last?.role === 'tool') return { text: 'wrote it' };
  if (!last?.text.includes('Task #')) return { text: 'thank you' };
  return { calls: [{ name: 'exec_command', input: { cmd: "printf 'by codex' > parser.txt" } }] };
}

describe(
  'a team of Claude Code and Codex inside a member',
  needs(missing.length === 0, `${missing.join(', ')} is not installed`),
  () => {
    const newStage = shareDaemon();

    test('works on the task: its lead answers, its work lands on both branches, and what it used counts to the member', async () => {
      const stage = newStage();
      const { team: teamId } = stage;
      const repository = join(stage.folder, 'project');
      makeRepository(repository, { 'README.md': 'A project\n' });
      const lead = await setUp('claude', testPlace(), leads);
      const coder = await setUp('codex', testPlace(), writes);
      onTestFinished(async () => void (await Promise.all([lead, coder].map(({ model }) => model.close()))));
      const plain = ({ entry: { cwd: _cwd, ...entry } }: Setup): object => entry;
      const inner = {
        team: 'port',
        lead: { name: 'chief', agent: 'claude', delegate: true, prompt: 'Port it.', ...plain(lead) },
        members: [{ name: 'coder', agent: 'codex', ...plain(coder) }],
      };
      const outer = {
        team: teamId,
        lead: 'person',
        work: { workspaces: 'own' },
        members: [{ name: 'rev', agent: { team: './port.yaml' } }],
        tasks: [{ title: 'Port the parser', assign: 'rev' }],
      };
      writeFileSync(join(repository, 'port.yaml'), JSON.stringify(inner));
      writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(outer));
      commitAll(repository, 'teams');
      await stage.ask('up', join(repository, 'troupe.yaml'), '--yes', '--detach');
      const client = stage.client();
      const task = await until('the task is over', async () => {
        const now = await stage.task(teamId, '1');
        return now.status === 'completed' || now.status === 'failed' ? now : undefined;
      });
      expect(task).toMatchObject({ status: 'completed', result: 'The parser is ported.', work: { state: 'landed' } });
      const work = await client.call('work.show', { teamId });
      expect(plainGit(work.depot ?? '', 'show', `${work.tip}:parser.txt`)).toBe('by codex');
      const { usage } = await client.call('team.status', { teamId: `${teamId}-rev-1` });
      expect(usage.inputTokens).toBeGreaterThan(0);
      // The turn of the member itself counts as one more.
      await until('all of it is counted', async () => {
        const { rev } = (await client.call('usage.show', { teamId })).members;
        return rev?.inputTokens === usage.inputTokens && rev?.turns === (usage.turns ?? 0) + 1;
      });
      const goal = lead.model.requests.flatMap(({ turns }) => turns.map(({ text }) => text)).join('\n');
      expect(goal).toContain(`Your team works on a task for rev, a member of team ${teamId}.`);
      expect(goal).toContain('Task #1: Port the parser');
    });
  },
);
