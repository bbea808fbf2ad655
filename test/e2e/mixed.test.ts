import { chmodSync, writeFileSync } from 'node:fs';
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
import { shareDaemon } from './stage.ts';

/** Each agent gets 3 (long run: 5) tasks: a greeting, then tasks that depend on another agent's task. */
const TASKS = REAL_AGENTS.length * rounds(3, 5);

const missing = REAL_AGENTS.filter((name) => agentProgram(name) === undefined);

/** Calls a team tool; agents give its name different prefixes. */
function call(request: ModelRequest, tool: string, ...inputs: readonly Record<string, unknown>[]): ModelReply {
  const name = request.tools.find((one) => one.endsWith(tool)) ?? tool;
  return { calls: inputs.map((input) => ({ name, input })) };
}

/** A teammate that greets all others in its first task, and reports what it did in every other task. */
function mate(own: string): ModelScript {
  return (request) => {
    const last = request.turns.at(-1);
    if (last?.role === 'tool') return { text: 'greeted everybody' };
    const title = /Task #\d+: (.*)/.exec(last?.text ?? '')?.[1];
    if (title === undefined) return { text: 'thank you' };
    if (!title.startsWith('Greet')) return { text: `did ${title}` };
    const others = REAL_AGENTS.filter((name) => name !== own);
    const messages = others.map((to) => ({ to, message: `hello ${to}, says ${own}`, summary: 'a greeting' }));
    return call(request, 'SendMessage', ...messages);
  };
}

describe(
  `a team of ${REAL_AGENTS.join(', ')}`,
  needs(missing.length === 0, `${missing.join(', ')} is not installed`),
  () => {
    const newStage = shareDaemon();

    test(`completes a graph of ${TASKS} tasks; all exchange messages, one is killed, a gate rejects one result`, async () => {
      const stage = newStage();
      const setups = new Map<string, Setup>();
      for (const name of REAL_AGENTS) setups.set(name, await setUp(name, testPlace(), mate(name)));
      onTestFinished(async () => void (await Promise.all([...setups.values()].map(({ model }) => model.close()))));
      const gate = join(stage.folder, 'gate.sh');
      writeFileSync(
        gate,
        '#!/bin/sh\n[ "$TROUPE_TASK_ID" != 10 ] || mkdir seen 2>/dev/null || exit 0\n[ "$TROUPE_TASK_ID" != 10 ] || { echo "once more" >&2; exit 2; }\n',
      );
      chmodSync(gate, 0o755);
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
      const file = stage.teamFile({
        team: 'mixed',
        agents: Object.fromEntries(
          [...setups].map(
            ([
              name,
              {
                entry: { cwd: _cwd, ...entry },
              },
            ]) => [name, entry],
          ),
        ),
        members: [...setups].map(([name, { entry }]) => ({ name, agent: name, cwd: entry['cwd'] })),
        tasks,
        hooks: { TaskCompleted: { command: './gate.sh', onFailure: 'block' } },
      });
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
          const inbox = await client.call('message.inbox', { teamId: 'mixed', memberId: own });
          return inbox.length === 3 && inbox.every(({ readAt }) => readAt !== undefined);
        });
        const texts = setups.get(own)?.model.requests.flatMap(({ turns }) => turns.map(({ text }) => text)) ?? [];
        for (const other of REAL_AGENTS.filter((name) => name !== own)) {
          expect(
            texts.some((text) => text.includes(`hello ${own}, says ${other}`)),
            `${other} to ${own}`,
          ).toBe(true);
        }
      }
      const { members } = await client.call('usage.show', { teamId: 'mixed' });
      for (const name of REAL_AGENTS) expect(members[name]?.inputTokens, name).toBeGreaterThan(0);
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
