import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { REAL_AGENTS, setUp } from '../agents/setups.ts';
import type { Setup } from '../agents/setups.ts';
import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';
import { rounds } from '../proof.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { commitAll, makeRepository, plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';

/** Each agent gets 3 (long run: 5) tasks: a greeting, then tasks that depend on another agent's task. */
const TASKS = REAL_AGENTS.length * rounds(3, 5);

const missing = REAL_AGENTS.filter((name) => agentProgram(name) === undefined);

/** Calls a team tool; agents give its name different prefixes. */
function call(request: ModelRequest, tool: string, ...inputs: readonly Record<string, unknown>[]): ModelReply {
  const name = request.tools.find((one) => one.endsWith(tool)) ?? tool;
  return { calls: inputs.map((input) => ({ name, input })) };
}

type AgentName = (typeof REAL_AGENTS)[number];

/** How the model of each agent writes a file. */
const WRITES: Readonly<Record<AgentName, (path: string, content: string) => NonNullable<ModelReply['calls']>[0]>> = {
  claude: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
  // In its sandbox it cannot write .git. But git can read there, also the objects that the copy borrows.
  codex: (path, content) => ({
    name: 'exec_command',
    input: { cmd: `git log --format=%s && git status --short && printf '${content}' > ${path}` },
  }),
  gemini: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
  opencode: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
};

/**
 * A teammate that greets all others in its first task, and reports what it did in every other task. With a folder, it
 * also writes a file there in its first task, and asks for its work.
 */
function mate(own: AgentName, folder?: string): ModelScript {
  return (request) => {
    const last = request.turns.at(-1);
    if (last?.role === 'tool') {
      const at = request.turns.findLastIndex(({ role }) => role === 'user');
      const said = request.turns.slice(at + 1).flatMap(({ role, text }) => (role === 'tool' ? text : []));
      if (folder === undefined || said.some((text) => text.includes('troupe/mixed'))) return { text: said.join('\n') };
      return call(request, 'WorkStatus', {});
    }
    const title = /Task #\d+: (.*)/.exec(last?.text ?? '')?.[1];
    if (title === undefined) return { text: 'thank you' };
    if (!title.startsWith('Greet')) return { text: `did ${title}` };
    const others = REAL_AGENTS.filter((name) => name !== own);
    const messages = others.map((to) => ({ to, message: `hello ${to}, says ${own}`, summary: 'a greeting' }));
    const { calls = [] } = call(request, 'SendMessage', ...messages);
    const edits = folder === undefined ? [] : [WRITES[own](join(folder, `${own}.txt`), `by ${own}`)];
    return { calls: [...calls, ...edits] };
  };
}

describe(
  `a team of ${REAL_AGENTS.join(', ')}`,
  needs(missing.length === 0, `${missing.join(', ')} is not installed`),
  () => {
    const newStage = shareDaemon();

    test(`completes a graph of ${TASKS} tasks in workspaces; all edit and exchange messages, one is killed, a gate rejects one result`, async () => {
      const stage = newStage();
      const repository = join(stage.folder, 'project');
      makeRepository(repository, { 'README.md': 'A project\n' });
      const setups = new Map<string, Setup>();
      for (const name of REAL_AGENTS) {
        const place = testPlace();
        const folder = join(stage.home.directory, 'workspaces', 'mixed', name);
        setups.set(name, await setUp(name, place, mate(name, folder)));
        // As after a yes of the user to Gemini CLI's question, in the checkout.
        mkdirSync(join(place.home, '.gemini'));
        writeFileSync(
          join(place.home, '.gemini/trustedFolders.json'),
          JSON.stringify({ [repository]: 'TRUST_FOLDER' }),
        );
      }
      onTestFinished(async () => void (await Promise.all([...setups.values()].map(({ model }) => model.close()))));
      const gate = join(repository, 'gate.sh');
      writeFileSync(
        gate,
        '#!/bin/sh\n[ "$TROUPE_TASK_ID" != 10 ] || mkdir "$TROUPE_HOME/seen" 2>/dev/null || exit 0\n[ "$TROUPE_TASK_ID" != 10 ] || { echo "once more" >&2; exit 2; }\n',
      );
      chmodSync(gate, 0o755);
      commitAll(repository, 'a gate');
      const tasks = Array.from({ length: TASKS }, (_, i) => {
        const assign = REAL_AGENTS[i % 4] as string;
        const title = i < 4 ? `Greet as ${assign}` : `Item ${i + 1}`;
        return {
          id: String(i + 1),
          title,
          assign,
          ...(i >= 4 && { needs: [String(i - 3), String(4 * Math.floor(i / 4))] }),
        };
      });
      const entries = [...setups].map(([name, { entry }]) => {
        const { cwd: _cwd, env, ...rest } = entry;
        const { GEMINI_CLI_TRUST_WORKSPACE: _trust, ...own } = env as Record<string, string>;
        return { name, agent: name, ...rest, env: own, skills: ['style.md'] };
      });
      const file = join(repository, 'troupe.yaml');
      // It is not committed, so it is only in the checkout.
      writeFileSync(join(repository, 'style.md'), 'Write like a walrus.');
      const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block' } };
      writeFileSync(file, JSON.stringify({ team: 'mixed', members: entries, tasks, hooks }));
      await stage.ask('up', file, '--yes', '--detach');
      const client = stage.client();
      const done = async (): Promise<number> =>
        (await client.call('team.status', { teamId: 'mixed' })).tasks['completed'] ?? 0;
      // Waits for one task at a time, so that each gets its own timeout. The first waits for four programs to start.
      const untilDone = async (from: number, to: number): Promise<void> => {
        for (let n = from; n <= to; n++) await until(`${n} tasks are done`, async () => (await done()) >= n);
      };
      await untilDone(1, 6);
      process.kill(await stage.pidOf('mixed', 'codex'), 'SIGKILL');
      await untilDone(7, TASKS);

      const all = await client.call('task.list', { teamId: 'mixed' });
      expect(all.map(({ assigneeId }) => assigneeId)).toEqual(tasks.map(({ assign }) => assign));
      expect(all[9]).toMatchObject({ rejections: 1, result: 'did Item 10' });
      for (const task of all) {
        for (const id of task.dependencies) {
          const before = all.find((one) => one.id === id);
          expect(Date.parse(before?.completedAt ?? '')).toBeLessThanOrEqual(Date.parse(task.startedAt ?? ''));
        }
      }
      for (const own of REAL_AGENTS) {
        await until(`${own} has its mail`, async () => {
          const all = await client.call('message.inbox', { teamId: 'mixed', memberId: own });
          // Troupe may have something to say, too.
          const inbox = all.filter(({ fromId }) => REAL_AGENTS.includes(fromId as (typeof REAL_AGENTS)[number]));
          return inbox.length === 3 && inbox.every(({ readAt }) => readAt !== undefined);
        });
        const asked = setups.get(own)?.model.requests ?? [];
        const texts = asked.flatMap(({ system, turns }) => [system, ...turns.map(({ text }) => text)]);
        expect(
          texts.some((text) => text.includes('Write like a walrus.')),
          `the skill of ${own}`,
        ).toBe(true);
        for (const other of REAL_AGENTS.filter((name) => name !== own)) {
          expect(
            texts.some((text) => text.includes(`hello ${own}, says ${other}`)),
            `${other} to ${own}`,
          ).toBe(true);
        }
      }
      const { members } = await client.call('usage.show', { teamId: 'mixed' });
      for (const name of REAL_AGENTS) expect(members[name]?.inputTokens, name).toBeGreaterThan(0);
      const work = await client.call('work.show', { teamId: 'mixed' });
      for (const [i, name] of REAL_AGENTS.entries()) {
        expect(plainGit(work.depot ?? '', 'show', `${work.tip}:${name}.txt`)).toBe(`by ${name}`);
        // Some agents give their model the text of a tool, others its data.
        expect(all[i]?.result).toMatch(new RegExp(`1 file \\(\\+1 -0\\): ${name}.txt|"path": ?"${name}.txt"`));
      }
      expect(all[1]?.result).toContain('a gate\nfirst\n');
      expect(await client.call('request.list', { teamId: 'mixed', kind: 'permission' })).toEqual([]);
      expect((await stage.troupe('down', 'mixed')).code).toBe(0);
    });

    test('works under Claude Code as lead, which creates tasks, spawns Codex and Gemini CLI, and answers', async () => {
      const stage = newStage();
      const lead = await setUp('claude', testPlace(), leads);
      const codex = await setUp('codex', testPlace(), mate('codex'));
      const gemini = await setUp('gemini', testPlace(), mate('gemini'));
      onTestFinished(async () => void (await Promise.all([lead, codex, gemini].map(({ model }) => model.close()))));
      const plain = ({ entry: { cwd: _cwd, ...entry } }: Setup): object => entry;
      const file = stage.teamFile({
        team: 'led',
        lead: { name: 'boss', agent: 'claude', prompt: 'Review the auth module.', ...lead.entry },
        agents: { codex: plain(codex), gemini: plain(gemini) },
      });
      const up = stage.start(['up', '--yes', file, '--json']);
      expect(await up.ended, up.output.stderr).toBe(0);
      const outcome = JSON.parse(up.output.stdout) as {
        answer: string;
        tasks: { assigneeId: string; status: string }[];
      };
      expect(outcome.answer).toBe('The auth module is fine.');
      expect(outcome.tasks.map(({ assigneeId, status }) => [assigneeId, status])).toEqual([
        ['reader', 'completed'],
        ['tester', 'completed'],
      ]);
    });
  },
);

/** An ideal lead: spawns teammates, creates tasks, waits, then answers. */
function leads(request: ModelRequest): ModelReply {
  const since = request.turns.slice(request.turns.findLastIndex(({ role }) => role === 'user'));
  if (since[0]?.text.includes('News of your team')) return { text: 'The auth module is fine.' };
  const steps: readonly (() => ModelReply)[] = [
    () =>
      call(
        request,
        'SpawnTeammate',
        { name: 'reader', agent: 'codex', role: 'reader' },
        { name: 'tester', agent: 'gemini', role: 'tester' },
      ),
    () =>
      call(
        request,
        'TaskCreate',
        { subject: 'Read it', description: 'all of it', owner: 'reader' },
        { subject: 'Test it', description: 'all of it', owner: 'tester' },
      ),
  ];
  const done = since.filter(({ role }) => role === 'tool').length / 2;
  return steps[done]?.() ?? { text: 'Now I wait.' };
}
