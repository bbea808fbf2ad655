import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { REAL_AGENTS, setUp } from '../agents/setups.ts';
import type { Setup } from '../agents/setups.ts';
import type { ModelReply, ModelScript } from '../models/script.ts';
import { needs } from '../tools.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';

type AgentName = (typeof REAL_AGENTS)[number];

const missing = REAL_AGENTS.filter((name) => agentProgram(name) === undefined);

/** How the model of each agent writes a file. */
const WRITES: Readonly<Record<AgentName, (path: string, content: string) => NonNullable<ModelReply['calls']>[0]>> = {
  claude: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
  // In its sandbox, .git is read-only; git can still read there, also what it borrows.
  codex: (path, content) => ({
    name: 'exec_command',
    input: { cmd: `printf '${content}' > ${path} && git status --short && git log --format=%s` },
  }),
  gemini: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }),
  opencode: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
};

/** A model that writes a file of its own, looks at its work, and reports what its tools said. */
function writes(name: AgentName, folder: string): ModelScript {
  return ({ turns, tools }) => {
    const at = turns.findLastIndex(({ role }) => role === 'user');
    if (!turns[at]?.text.includes(`Edit as ${name}`)) return { text: 'fine' };
    const said = turns.slice(at + 1).flatMap(({ role, text }) => (role === 'tool' ? text : []));
    if (said.length === 0) return { calls: [WRITES[name](join(folder, `${name}.txt`), `by ${name}`)] };
    const status = tools.find((tool) => tool.endsWith('WorkStatus')) ?? 'none';
    if (said.length === 1) return { calls: [{ name: status, input: {} }] };
    return { text: said.join('\n') };
  };
}

describe('real agents', needs(missing.length === 0, `${missing.join(', ')} is not installed`), () => {
  const newStage = shareDaemon();

  test('edit in workspaces of their own without a question, and their work lands', async () => {
    const stage = newStage();
    const repository = join(stage.folder, 'project');
    makeRepository(repository, { 'README.md': 'A project\n' });
    const setups: [AgentName, Setup][] = [];
    for (const name of REAL_AGENTS) {
      const place = testPlace();
      const folder = join(stage.home.directory, 'workspaces', stage.team, name);
      setups.push([name, await setUp(name, place, writes(name, folder))]);
      // As after a yes of the user to Gemini CLI's question, in the checkout.
      mkdirSync(join(place.home, '.gemini'));
      writeFileSync(join(place.home, '.gemini/trustedFolders.json'), JSON.stringify({ [repository]: 'TRUST_FOLDER' }));
    }
    onTestFinished(async () => void (await Promise.all(setups.map(([, { model }]) => model.close()))));
    const members = setups.map(([name, { entry }]) => {
      const { cwd: _, env, ...rest } = entry;
      const { GEMINI_CLI_TRUST_WORKSPACE: __, ...own } = env as Record<string, string>;
      return { name, agent: name, ...rest, env: own };
    });
    const tasks = REAL_AGENTS.map((name) => ({ title: `Edit as ${name}`, assign: name }));
    writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify({ team: stage.team, members, tasks }));
    const up = await stage.troupe('up', join(repository, 'troupe.yaml'), '--yes');
    expect(up.code, up.stdout + up.stderr).toBe(0);

    const work = await stage.ask<ResultOf<'work.show'>>('work', '--team', stage.team);
    const files = plainGit(work.depot ?? '', 'ls-tree', '-r', '--name-only', work.tip ?? '').split('\n');
    expect(files).toEqual(['README.md', ...REAL_AGENTS.map((name) => `${name}.txt`)]);
    const done = await stage.client().call('task.list', { teamId: stage.team });
    for (const [i, name] of REAL_AGENTS.entries()) {
      expect(plainGit(work.depot ?? '', 'show', `${work.tip}:${name}.txt`)).toBe(`by ${name}`);
      // Some agents give their model the text of a tool, others its data.
      expect(done[i]?.result).toMatch(new RegExp(`1 file \\(\\+1 -0\\): ${name}.txt|"path": ?"${name}.txt"`));
    }
    expect(done[1]?.result).toContain('?? codex.txt\nfirst\n');
    expect(await stage.client().call('request.list', { teamId: stage.team, kind: 'permission' })).toEqual([]);
  });
});
