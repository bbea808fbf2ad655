import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Client as Troupe } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { refusal, toolNames, use } from './house.ts';

const BIN = join(import.meta.dirname, '../../bin/troupe.js');

// Each of these tests starts several processes, on a machine that may be busy.
let shared: Opened;
const cleanups: (() => Promise<void> | void)[] = [];
beforeAll(async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  shared = await openTeam(homeAt(join(directory, 'h')), (cleanup) => cleanups.push(cleanup));
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

test('two members exchange messages over stdio of real processes', async () => {
  const { home, troupe, token } = shared;
  const [alice, bob] = await Promise.all([connect(home, await token('alice')), connect(home, await token('bob'))]);
  expect(await toolNames(alice)).toHaveLength(12);
  expect(alice.getInstructions()).toMatch(/^You are "alice" in team "demo"/);
  await use(alice, 'SendMessage', { to: 'bob', message: 'hello' });
  expect((await use(bob, 'Inbox')).data.messages).toMatchObject([{ from: 'alice', content: 'hello' }]);
  expect((await use(bob, 'Inbox')).data.messages).toEqual([]);

  await troupe.call('task.create', { teamId: 'demo', title: 'First' });
  await troupe.call('task.create', { teamId: 'demo', title: 'Second', dependencies: ['1'] });
  expect((await use(alice, 'TaskClaim')).data.task.id).toBe('1');
  expect(await refusal(bob, 'TaskClaim', { taskId: '1' })).toBe('claim_conflict');
  expect(await refusal(bob, 'TaskClaim', { taskId: '2' })).toBe('blocked');
  const waiting = use(bob, 'TaskClaim', { wait_seconds: 60 });
  await use(alice, 'TaskComplete', { taskId: '1', result: 'done' });
  expect((await waiting).data.task.id).toBe('2');
});

test('the team tools are offered if the environment asks for them', async () => {
  const withEnvironment = async (env: Record<string, string>, ...flags: string[]): Promise<number> =>
    (await toolNames(await connect(shared.home, undefined, { env, flags }))).length;
  const claude = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  expect(
    await Promise.all([
      withEnvironment({}),
      withEnvironment(claude),
      withEnvironment({ TROUPE_TEAMS: '1' }, '--team', 'demo', '--as', 'alice'),
      withEnvironment({ ...claude, TROUPE_TEAMS: '0' }),
      // A configuration with a team or a member implies the tools, unless it says otherwise.
      withEnvironment({}, '--team', 'demo', '--as', 'alice'),
      withEnvironment({}, '--team', 'demo'),
      withEnvironment({ TROUPE_TEAMS: '0' }, '--team', 'demo'),
    ]),
    // Tools for workspaces are left out only if the team is known to have none.
  ).toEqual([0, TOOLS.filter(({ reviews }) => !reviews).length, 12, 0, 12, 15, 0]);
});

test("the team tools are not offered if Claude Code's teams are turned off", async () => {
  const off = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '0' };
  const token = await shared.token('alice');
  const count = async (bearer: string | undefined, env: Record<string, string>, ...flags: string[]): Promise<number> =>
    (await toolNames(await connect(shared.home, bearer, { env, flags }))).length;
  expect(
    await Promise.all([
      count(token, {}),
      count(token, off),
      count(undefined, off, '--team', 'demo', '--as', 'alice'),
      // Troupe's own setting is on.
      count(token, { ...off, TROUPE_TEAMS: '1' }),
    ]),
  ).toEqual([12, 0, 0, 12]);
});

test.each(['TaskClaim', 'Inbox'])(
  'cancels a waiting %s call, and ends, when its client closes its input',
  async (name) => {
    const { troupe, home, token } = shared;
    await troupe.call('team.create', { name: `end-${name.toLowerCase()}` });
    const who = { teamId: `end-${name.toLowerCase()}`, memberId: 'alice' };
    await troupe.call('member.add', { teamId: who.teamId, name: 'alice' });
    const { token: bearer } = await troupe.call('member.token', who);
    expect(bearer).not.toBe(await token('alice'));
    const connections = async () => (await troupe.call('daemon.status', {})).connections;
    const before = await connections();
    const child = run(home, ['mcp'], { env: { TROUPE_TOKEN: bearer } });
    const heard = lines(child);
    const params = { name, arguments: { wait_seconds: 60 }, _meta: { progressToken: 7 } };
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    for (const message of [INITIALIZE, INITIALIZED, call]) child.stdin?.write(`${JSON.stringify(message)}\n`);
    await expect.poll(() => heard.some((line) => line.includes('notifications/progress'))).toBe(true);
    const ended = once(child, 'exit');
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
    await expect.poll(connections).toBe(before);
    await troupe.call('task.create', { teamId: who.teamId, title: 'New' });
    await troupe.call('message.send', { teamId: who.teamId, toId: 'alice', content: 'hi' }, { as: 'lead' });
    const task = await troupe.call('task.show', { teamId: who.teamId, taskId: '1' });
    expect(task).toMatchObject({ status: 'pending', epoch: 0 });
    const [message] = await troupe.call('message.inbox', who);
    expect(message?.deliveredAt).toBeUndefined();
  },
);

test('a claim survives a restart of the daemon, and a lost one does not overwrite another', async () => {
  const { home, daemon, troupe, token } = await openTeam(homeAt(join(temporaryFolder(), 'h')));
  const alice = await connect(home, await token('alice'));
  for (const title of ['First', 'Second']) await troupe.call('task.create', { teamId: 'demo', title });
  for (const taskId of ['1', '2']) {
    // Claimed twice: a task claimed once, by one member, would not need the epoch.
    await use(alice, 'TaskClaim', { taskId });
    await troupe.call('task.release', { teamId: 'demo', taskId });
    await use(alice, 'TaskClaim', { taskId });
  }
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
  await serve(home);
  expect((await use(alice, 'TaskComplete', { taskId: '1' })).isError).toBe(false);
  await troupe.call('task.release', { teamId: 'demo', taskId: '2' });
  const other = await connect(home, await token('alice'));
  await use(other, 'TaskClaim', { taskId: '2' });
  expect(await refusal(alice, 'TaskComplete', { taskId: '2', result: 'late' })).toBe('stale_epoch');
  expect((await use(other, 'TaskComplete', { taskId: '2' })).isError).toBe(false);
});

test('a person gives the team and the member on the command line', async () => {
  const env = { TROUPE_TEAMS: '1' };
  const person = await connect(shared.home, undefined, { env, flags: ['--team=demo', '--as', 'bob'] });
  expect((await use(person, 'TeamStatus')).data).toMatchObject({ team_name: 'demo', you: 'bob' });
});

test('the daemon also serves these tools over HTTP', async () => {
  const { troupe, token } = shared;
  const { url } = await troupe.call('daemon.status', {});
  const open = async (bearer: string): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url ?? ''), { requestInit }));
    return client;
  };
  const [alice, bob] = [await open(await token('alice')), await open(await token('bob'))];
  expect(await toolNames(alice)).toHaveLength(12);
  const waiting = use(bob, 'Inbox', { wait_seconds: 60 });
  await use(alice, 'SendMessage', { to: 'bob', message: 'over HTTP' });
  expect((await waiting).data.messages).toMatchObject([{ from: 'alice', content: 'over HTTP' }]);
  await expect(open('wrong')).rejects.toThrow();
});

test('reports what is wrong and ends if it cannot start', async () => {
  const { home, token } = shared;
  const endOf = async (words: string[], env: Record<string, string>): Promise<[number | null, string]> => {
    const child = run(home, words, { env });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return [code, said];
  };
  const env = { TROUPE_TOKEN: await token('alice') };
  expect(
    await Promise.all([
      endOf(['mcp'], { TROUPE_TOKEN: 'wrong' }),
      endOf(['mcp', '--as', 'bob'], env),
      endOf(['mcp', '--team', 'other'], env),
      endOf(['mcp', '--tea', 'demo'], env),
      endOf(['mcp', '--team'], env),
      endOf(['mcp', '--team', ''], {}),
      endOf(['mcp'], { TROUPE_HOME: temporaryFolder(), TROUPE_NO_AUTOSTART: '1' }),
    ]),
  ).toEqual([
    [5, expect.stringContaining('not a valid token')],
    [5, expect.stringContaining('acts for alice')],
    [5, expect.stringContaining('for team demo')],
    [2, expect.stringContaining('There is no flag --tea; did you mean --team?')],
    [2, expect.stringContaining('--team needs a value')],
    [2, expect.stringMatching(/team/)],
    [75, expect.stringContaining('No daemon')],
  ]);
});

// From source, the list of commands is made when it is loaded; a build has it ready.
const BUILT = needs(!TROUPE_SOURCE, 'the programs are not built: npm run build');

test('loads neither the MCP library nor a schema', BUILT, async () => {
  const { home, token } = shared;
  const trace = join(temporaryFolder(), 'loaded');
  const hook = `data:text/javascript,${encodeURIComponent(
    `import { registerHooks } from 'node:module'; import { appendFileSync } from 'node:fs';
     registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(trace)}, url + '\\n'); return next(url, context); } });`,
  )}`;
  const alice = await connect(home, await token('alice'), { env: { NODE_OPTIONS: `--import ${hook}` } });
  await use(alice, 'TeamStatus');
  const loaded = readFileSync(trace, 'utf8').trim().split('\n');
  expect(loaded.some((url) => /\/commands\/mcp\.[jt]s$/.test(url))).toBe(true);
  expect(loaded.filter((url) => url.includes('node_modules'))).toEqual([]);
});

test('sessions and calls under way survive a restart of the daemon', async () => {
  const { home, daemon, troupe, token } = await openTeam(homeAt(join(temporaryFolder(), 'h')));
  const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
  const [alice, bob, lead, person] = await Promise.all([
    connect(home, await token('alice')),
    connect(home, await token('bob'), { options: modern }),
    connect(home, await token('lead')),
    connect(home, undefined, { env: { TROUPE_TEAMS: '1' } }),
  ]);
  await use(person, 'TeamCreate', { team_name: 'made' });
  const waiting = use(alice, 'Inbox', { wait_seconds: 60 }, { timeout: HANG_MS });
  const subjects = Array.from({ length: 50 }, (_, i) => `T${i}`);
  const creating = subjects.map((subject) => use(lead, 'TaskCreate', { subject, description: '' }));
  expect(await toolNames(bob)).toHaveLength(12);
  await creating[0];
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
  const listing = toolNames(alice);
  await serve(home);

  expect(await listing).toHaveLength(12);
  // Unanswered calls are sent again, and done once.
  for (const one of creating) expect((await one).isError).toBe(false);
  const tasks = await troupe.call('task.list', { teamId: 'demo' });
  expect(tasks.map(({ title }) => title).sort()).toEqual(subjects.sort());
  // The creator of a team still leads it, and a waiting call gets its result.
  expect((await use(person, 'TeamStatus')).data).toMatchObject({ team_name: 'made', you: 'lead' });
  expect((await use(bob, 'SendMessage', { to: 'alice', message: 'still there?' })).isError).toBe(false);
  expect((await waiting).data.messages).toMatchObject([{ from: 'bob', content: 'still there?' }]);
});

test('starts a daemon if there is none, and ends with its client', async () => {
  const home = homeAt(join(temporaryFolder(), 'h'));
  const child = run(home, ['mcp'], { env: { TROUPE_TEAMS: '1' } });
  child.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
  const [answer] = (await once(child.stdout!, 'data')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { serverInfo: { name: 'troupe' } } });
  child.stdin?.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await once(run(home, ['stop']), 'exit')).toEqual([0, null]);
});

test('answers what it has read when its client closes its input', async () => {
  const child = run(shared.home, ['mcp', '--team', 'demo', '--as', 'alice']);
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  child.stdin?.end([INITIALIZE, initialized, list].map((message) => JSON.stringify(message)).join('\n'));
  const [answers, [status]] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  const said = answers
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(said).toMatchObject([
    { id: 1, result: { serverInfo: { name: 'troupe' } } },
    { id: 2, result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'TaskClaim' })]) as unknown } },
  ]);
  expect(status).toBe(0);
});

test.each([
  ['a team', ['--team', 'nope', '--as', 'alice'], 'There is no team "nope"'],
  ['a member', ['--team', 'demo', '--as', 'nobody'], 'Team demo has no member "nobody"'],
])('reports that %s does not exist', async (_what, flags, message) => {
  const child = run(shared.home, ['mcp', ...flags]);
  child.stdin?.end();
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  expect({ said, status }).toEqual({ said: expect.stringContaining(message) as unknown, status: 3 });
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** The output of a process, line by line. */
function lines(child: ChildProcess): string[] {
  const heard: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => heard.push(...chunk.toString().split('\n')));
  return heard;
}

interface Opened {
  readonly home: Home;
  readonly daemon: ChildProcess;
  readonly troupe: Troupe;
  readonly token: (memberId: string) => Promise<string>;
}

type Finally = (cleanup: () => Promise<void> | void) => void;

/** A new daemon with the team `demo`: lead, alice and bob. */
async function openTeam(home: Home, atEnd: Finally = onTestFinished): Promise<Opened> {
  const daemon = await serve(home, atEnd);
  const troupe = reach(home);
  atEnd(() => troupe.close());
  await troupe.call('team.create', { name: 'demo' });
  for (const name of ['alice', 'bob']) await troupe.call('member.add', { teamId: 'demo', name });
  const token = async (memberId: string): Promise<string> =>
    (await troupe.call('member.token', { teamId: 'demo', memberId })).token;
  return { home, daemon, troupe, token };
}

/** A client that waits as long as needed for a daemon that starts. */
function reach(home: Home): Troupe {
  return new Troupe(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), { patience: HANG_MS });
}

async function serve(home: Home, atEnd?: Finally): Promise<ChildProcess> {
  const daemon = run(home, ['serve'], atEnd && { atEnd });
  const knock = reach(home);
  await knock.call('daemon.status', {});
  knock.close();
  return daemon;
}

function run(
  home: Home,
  words: string[],
  { env = {}, atEnd = onTestFinished }: { env?: Record<string, string>; atEnd?: Finally } = {},
): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...words], { env: environment(home, env), stdio: 'pipe' });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

function environment(home: Home, env: Record<string, string>): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TROUPE_TEST_RUN', 'TROUPE_TEST_FILE', 'TROUPE_SOURCE', 'NODE_COMPILE_CACHE'];
  const inherited = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), TROUPE_HOME: home.directory, ...env };
}

interface Connecting {
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  readonly options?: ClientOptions;
}

/** The official client with `troupe mcp` as its server process. */
async function connect(home: Home, token?: string, { env, flags = [], options }: Connecting = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  const credential = token === undefined ? {} : { TROUPE_TOKEN: token };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', ...flags],
    // The tests start and end the daemon themselves.
    env: environment(home, { TROUPE_NO_AUTOSTART: '1', ...credential, ...env }),
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}
