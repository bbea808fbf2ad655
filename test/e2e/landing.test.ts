import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { REAL_AGENTS, setUp } from '../agents/setups.ts';
import type { Setup } from '../agents/setups.ts';
import { linesOf } from '../lines-of.ts';
import type { ModelReply, ModelScript } from '../models/script.ts';
import { isProof, rounds } from '../proof.ts';
import { judgeEach } from '../runtime/landing/judge-each.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { commitAll, makeRepository, plainGit } from '../workspaces/project.ts';
import { setStage } from './stage.ts';
import { pictureOf } from './work-project.ts';

type AgentName = (typeof REAL_AGENTS)[number];

const AGENTS: readonly AgentName[] = isProof ? REAL_AGENTS : ['claude', 'codex'];
const TASKS = rounds(6, 40);
const TEAM = 'landing';

const missing = AGENTS.filter((name) => agentProgram(name) === undefined);

/** The tests of the project: names are unique, values are right, pairs are joined. */
const TESTS = `
import { test } from 'node:test';
import assert from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const names = readFileSync('names.txt', 'utf8').split('\\n');
test('every name is there once', () => assert.equal(new Set(names).size, names.length));
test('no marker is left', () => assert.ok(!names.some((name) => name.startsWith('<<<<<<<'))));
for (const file of readdirSync('src')) {
  test(file, async () => assert.equal((await import('../src/' + file)).value, Number(file.slice(5, -4))));
}
for (const pair of [1, 2]) {
  test('pair ' + pair, () => {
    if (existsSync('left-' + pair) && existsSync('right-' + pair)) assert.ok(existsSync('both-' + pair), 'pair ' + pair + ' is not joined');
  });
}
`;

/** What a task changes. */
type Edit =
  | { readonly kind: 'line' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'pair'; readonly side: 'left' | 'right'; readonly pair: number };

/** The first tasks of all agents change the same line, the second ones are red only together; two more conflict, if there are so many. */
function editOf(task: number): Edit {
  const at = task - AGENTS.length;
  if (at <= 0) return { kind: 'line' };
  if (at <= AGENTS.length) return { kind: 'pair', side: at % 2 === 1 ? 'left' : 'right', pair: Math.ceil(at / 2) };
  const isMore = AGENTS.length > 2 && at <= AGENTS.length + 2;
  return { kind: isMore ? 'line' : 'plain' };
}

/** What is still to be written in a folder for a task, by path. */
function editsFor(folder: string, task: number, told: string): Record<string, string> {
  const edits: Record<string, string> = {};
  const edit = editOf(task);
  const put = (path: string, content: string): void => {
    if (!existsSync(join(folder, path))) edits[path] = content;
  };
  if (edit.kind === 'plain') put(`src/task-${task}.mjs`, `export const value = ${task};\n`);
  if (edit.kind === 'pair') {
    put(`${edit.side}-${edit.pair}`, 'here\n');
    for (const [, pair] of told.matchAll(/pair (\d) is not joined/g)) put(`both-${pair}`, 'joined\n');
  }
  if (edit.kind === 'line') {
    const text = readFileSync(join(folder, 'names.txt'), 'utf8');
    const both = text.replaceAll(/^\|{7} [^]*?^={7}\n/gm, '').replaceAll(/^(<{7}|>{7}) .*\n/gm, '');
    const whole = both.includes(`task ${task}\n`) ? both : both.replace('last\n', `task ${task}\nlast\n`);
    if (whole !== text) edits['names.txt'] = whole;
  }
  return edits;
}

type Call = NonNullable<ModelReply['calls']>[0];

/** How the model of each agent reads and writes a file. Some refuse to write what they have not read. */
const TOOLS: Readonly<
  Record<AgentName, { read?: (path: string) => Call; write: (path: string, content: string) => Call }>
> = {
  claude: {
    read: (file_path) => ({ name: 'Read', input: { file_path } }),
    write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
  },
  codex: {
    write: (path, content) => ({ name: 'exec_command', input: { cmd: `cat > ${path} <<'END'\n${content}END` } }),
  },
  gemini: { write: (file_path, content) => ({ name: 'write_file', input: { file_path, content } }) },
  opencode: {
    read: (filePath) => ({ name: 'read', input: { filePath } }),
    write: (filePath, content) => ({ name: 'write', input: { filePath, content } }),
  },
};

/** Resolves for all agents when each has come so far: none begins from what another has handed in. */
function meetings() {
  const waiting = new Map<number, { here: Set<string>; all: PromiseWithResolvers<void> }>();
  return (round: number, name: string): Promise<void> => {
    const meeting = waiting.get(round) ?? { here: new Set(), all: Promise.withResolvers<void>() };
    waiting.set(round, meeting);
    meeting.here.add(name);
    if (meeting.here.size === AGENTS.length) meeting.all.resolve();
    return meeting.all.promise;
  };
}

/** A member that does what its task says, and what comes back with it. It never uses git. */
function doer(name: AgentName, folder: string, meet: ReturnType<typeof meetings>): ModelScript {
  return async ({ turns }) => {
    const at = turns.findLastIndex(({ role, text }) => role === 'user' && /Task #\d+/.test(text));
    const told = turns[at]?.text ?? '';
    const task = Number(/Task #(\d+)/.exec(told)?.[1]);
    if (!task) return { text: 'thank you' };
    const round = Math.ceil(task / AGENTS.length);
    if (round <= 2) await meet(round, name);
    const edits = Object.entries(editsFor(folder, task, told));
    const { read, write } = TOOLS[name];
    const tools = turns.slice(at + 1).filter(({ role }) => role === 'tool').length;
    if (edits.length === 0 || tools > 6) return { text: `did ${task}` };
    const unread = tools === 0 && read ? edits.filter(([path]) => existsSync(join(folder, path))) : [];
    if (read && unread.length > 0) return { calls: unread.map(([path]) => read(join(folder, path))) };
    return { calls: edits.map(([path, content]) => write(join(folder, path), content)) };
  };
}

test(
  `${AGENTS.join(', ')} land ${TASKS} tasks through a flaky gate: some conflict, some are red only together; every tip is green`,
  needs(missing.length === 0, `${missing.join(', ')} is not installed`),
  async () => {
    const stage = setStage();
    const repository = join(stage.folder, 'project');
    const runs = join(stage.folder, 'runs');
    const tests = `${process.execPath} tests/all.test.mjs`;
    const gate = `#!/bin/sh\necho run >> ${runs}\n[ $(($(wc -l < ${runs}) % 3)) -ne 0 ] || { echo "bad luck" >&2; exit 2; }\n${tests} || exit 2\n`;
    makeRepository(repository, {
      'names.txt': 'first\nlast\n',
      'src/task-0.mjs': 'export const value = 0;\n',
      'tests/all.test.mjs': TESTS,
      'gate.sh': gate,
    });
    chmodSync(join(repository, 'gate.sh'), 0o755);
    commitAll(repository, 'a gate');
    const meet = meetings();
    const setups: [AgentName, Setup][] = [];
    onTestFinished(async () => void (await Promise.all(setups.map(([, { model }]) => model.close()))));
    for (const name of AGENTS) {
      const place = testPlace();
      const folder = join(stage.home.directory, 'workspaces', TEAM, name);
      setups.push([name, await setUp(name, place, doer(name, folder, meet))]);
      // As after a yes of the user to Gemini CLI's question, in the checkout.
      mkdirSync(join(place.home, '.gemini'));
      writeFileSync(join(place.home, '.gemini/trustedFolders.json'), JSON.stringify({ [repository]: 'TRUST_FOLDER' }));
    }
    const members = setups.map(([name, { entry }]) => {
      const { cwd: _cwd, env, ...rest } = entry;
      const { GEMINI_CLI_TRUST_WORKSPACE: _trust, ...own } = env as Record<string, string>;
      return { name, agent: name, ...rest, env: own };
    });
    const tasks = Array.from({ length: TASKS }, (_, i) => ({
      title: `Item ${i + 1}`,
      assign: AGENTS[i % AGENTS.length],
    }));
    const hooks = { TaskCompleted: { command: './gate.sh', onFailure: 'block', flaky: true } };
    const file = join(repository, 'troupe.yaml');
    writeFileSync(file, JSON.stringify({ team: TEAM, members, tasks, hooks }));
    const before = pictureOf(repository);
    await stage.ask('up', file, '--yes', '--detach');
    const client = stage.client();
    const done = async (): Promise<number> =>
      (await client.call('team.status', { teamId: TEAM })).tasks['completed'] ?? 0;
    for (let n = 1; n <= TASKS; n++) await until(`${n} tasks are done`, async () => (await done()) >= n);

    const all = await client.call('task.list', { teamId: TEAM });
    expect(all.map(({ work }) => work?.state)).toEqual(all.map(() => 'landed'));
    const { depot = '', base = '', tip = '' } = await client.call('work.show', { teamId: TEAM });
    const ids = plainGit(depot, 'log', '--format=%(trailers:key=Task-Id,valueonly,separator=)', `${base}..${tip}`);
    expect(
      ids
        .split('\n')
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(all.map((_, i) => i + 1));
    judgeEach(depot, `${base}..${tip}`, tests);

    // No edit is lost, what conflicted was brought together, and what did not fit was joined.
    const files = plainGit(depot, 'ls-tree', '-r', '--name-only', tip).split('\n');
    const names = plainGit(depot, 'show', `${tip}:names.txt`).split('\n');
    for (let task = 1; task <= TASKS; task++) {
      const edit = editOf(task);
      if (edit.kind === 'plain') expect(files).toContain(`src/task-${task}.mjs`);
      else if (edit.kind === 'line') expect(names).toContain(`task ${task}`);
      else expect(files).toEqual(expect.arrayContaining([`${edit.side}-${edit.pair}`, `both-${edit.pair}`]));
    }
    const sentBack = all.reduce((sum, { work }) => sum + (work?.sentBack ?? 0), 0);
    expect(sentBack).toBeGreaterThanOrEqual(AGENTS.length - 1);
    expect(linesOf(runs).length).toBeGreaterThanOrEqual(3);
    const calls = setups.flatMap(([, { model }]) => model.requests.map(({ body }) => JSON.stringify(body)));
    expect(calls.filter((body) => /"cmd\\?":\s*\\?"git /.test(body))).toEqual([]);
    expect(await client.call('request.list', { teamId: TEAM, status: 'pending' })).toEqual([]);
    expect(pictureOf(repository)).toEqual(before);
    console.log(`${linesOf(runs).length} runs of the gate, ${sentBack} conflicts`);
    expect((await stage.troupe('down', TEAM)).code).toBe(0);
  },
);
