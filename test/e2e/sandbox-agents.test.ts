import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import type { InstalledAgent } from '../agents/installed.ts';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import type { ModelReply, ModelScript } from '../models/script.ts';
import { rounds } from '../proof.ts';
import { needs } from '../tools.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import { up } from './work-project.ts';

/** A start of the last two takes several seconds of processor time. */
const AGENTS = (['claude', 'codex', 'gemini', 'opencode'] as const).slice(0, rounds(2, 4));

const SHELLS: Readonly<Record<InstalledAgent, (command: string) => NonNullable<ModelReply['calls']>[0]>> = {
  claude: (command) => ({ name: 'Bash', input: { command } }),
  codex: (cmd) => ({ name: 'exec_command', input: { cmd } }),
  gemini: (command) => ({ name: 'run_shell_command', input: { command } }),
  opencode: (command) => ({ name: 'bash', input: { command, description: 'a command' } }),
};

/** A model that tries a command, then reads the tasks of its team, and reports what both said. */
function tries(name: InstalledAgent, command: string): ModelScript {
  return ({ turns, tools }) => {
    const at = turns.findLastIndex(({ role }) => role === 'user');
    const said = turns.slice(at + 1).flatMap(({ role, text }) => (role === 'tool' ? text : []));
    if (!/Task #\d+:/.test(turns[at]?.text ?? '')) return { text: 'thank you' };
    if (said.length === 0) return { calls: [SHELLS[name](command)] };
    const list = tools.find((one) => one.endsWith('TaskList')) ?? 'TaskList';
    if (said.length === 1) return { calls: [{ name: list, input: {} }] };
    return { text: `REPORT\n${said.join('\n')}` };
  };
}

const able = findSandbox(process.env);
const missing = AGENTS.filter((name) => agentProgram(name) === undefined);
const lack = able.program === undefined ? `no sandbox here: ${able.why}` : `${missing.join(', ')} is not installed`;

describe('real agents in a sandbox', needs(able.program !== undefined && missing.length === 0, lack), () => {
  const newStage = shareDaemon();

  test('reach their model and their team, work in their workspace, and nowhere else', async () => {
    const stage = newStage();
    const repository = join(stage.folder, 'project');
    makeRepository(repository, { 'README.md': 'A project\n' });
    const outside = join(stage.folder, 'outside');
    const members = [];
    for (const name of AGENTS) {
      const place = testPlace();
      writeFileSync(join(place.home, 'private.txt'), 'private');
      // One stream: an agent may read two in any order.
      const command = `{ echo by-${name} > ${name}.txt; cat ${place.home}/private.txt ${stage.home.directory}/token; echo x > ${outside}; kill -9 ${process.pid}; git log --format=%s; echo END; } 2>&1`;
      const { entry, model } = await setUp(name, place, tries(name, command));
      onTestFinished(() => model.close());
      const { cwd: _, ...rest } = entry;
      // Claude Code and Gemini CLI find it by a variable that a sandbox knows.
      const isKnown = name === 'claude' || name === 'gemini';
      const sandbox = isKnown ? true : { network: [new URL(model.url).host] };
      members.push({ name, agent: name, mode: 'full', sandbox, ...rest });
    }
    const tasks = AGENTS.map((name) => ({ title: `Try ${name}`, assign: name }));
    writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify({ team: stage.team, members, tasks }));
    const { code, stdout, stderr } = await up(stage, repository, '--keep');
    expect(code, `${stdout}${stderr}`).toBe(0);
    for (const [at, name] of AGENTS.entries()) {
      const { result = '' } = await stage.task(stage.team, String(at + 1));
      expect(result, result).toMatch(/No such file.*No such file.*No such process.*END/is);
      expect(result).not.toMatch(/private$/m);
      // The tools of its team answered.
      expect(result).toContain(`Try ${name}`);
    }
    expect(existsSync(outside)).toBe(false);
    const depots = join(stage.home.directory, 'depots');
    const depot = join(depots, readdirSync(depots)[0] ?? '');
    for (const name of AGENTS) {
      expect(plainGit(depot, 'show', `refs/heads/troupe/${stage.team}:${name}.txt`)).toBe(`by-${name}`);
    }
  });
});
