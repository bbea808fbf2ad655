import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StartOptions } from '../../src/agents/agent.ts';
import { execAgent } from '../../src/agents/exec.ts';
import { endMarked, findMarked, isThere } from '../../src/agents/process.ts';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { openSandbox } from '../../src/agents/sandbox/open.ts';
import type { OpenSandbox } from '../../src/agents/sandbox/open.ts';
import type { SandboxSettings } from '../../src/core/sandbox.ts';
import { defaultStart, hear, turn } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';

const able = findSandbox(process.env);
const there = needs(able.program !== undefined, `no sandbox here: ${able.why}`);

/** A place with a home, the state directory of a daemon, and the folders of two members. */
let root = '';
const at = (...names: string[]): string => join(root, ...names);
const boxes: OpenSandbox[] = [];
let box: OpenSandbox | undefined;
const servers: Server[] = [];

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-sandbox-')));
  for (const name of ['home/.ssh', 'state/processes', 'state/workspaces/demo/ada/.git', 'state/workspaces/demo/bob']) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(at('home/.ssh/id'), 'the key');
  writeFileSync(at('state/token'), 'the admin token');
  writeFileSync(at('state/processes/bob.token'), "bob's token");
  writeFileSync(at('state/workspaces/demo/bob/work.txt'), "bob's work");
  if (able.program !== undefined) box = await open({});
});

afterAll(async () => {
  for (const one of boxes) await one.close();
  for (const server of servers) server.close();
  rmSync(root, { recursive: true, force: true });
});

const HERE = (): string => at('state/workspaces/demo/ada');
const ENV = (): Record<string, string> => ({ ...defaultStart().env, HOME: at('home') });

async function open(settings: SandboxSettings, more: Partial<Parameters<typeof openSandbox>[0]> = {}) {
  const opened = await openSandbox({ settings, state: at('state'), env: ENV(), ...more });
  boxes.push(opened);
  return opened;
}

/** Runs a shell script as a member's program, and returns what it printed. */
async function run(script: string, sandbox = box): Promise<string> {
  const session = await start(script, sandbox);
  await session.send(turn('x'), { when: 'next' });
  return (await session.end(1)).text;
}

async function start(script: string, sandbox = box, more: Partial<StartOptions> = {}): Promise<Heard> {
  const agent = execAgent({ command: ['/bin/sh', '-c', script] });
  const resume = `test-${crypto.randomUUID()}`;
  onTestFinished(async () => void (await endMarked(resume)));
  return hear(await agent.start({ ...defaultStart(), cwd: HERE(), env: ENV(), sandbox, resume, ...more }));
}

/** A server on this machine; returns its port. */
async function serve(text: string, address = '127.0.0.1'): Promise<number> {
  const server = createServer((_, answer) => answer.end(text));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as AddressInfo).port;
}

/** A program that prints what a server answers, or why it does not. */
function get(url: string): string {
  return `node -e 'fetch("${url}").then((r) => r.text()).then(console.log, (e) => console.log("failed", e.cause?.code))'`;
}

describe('a program in a sandbox', there, () => {
  test('reads the objects that its workspace borrows, but not those of a project that it names itself', async () => {
    for (const depot of ['ours', 'theirs']) {
      mkdirSync(at(`state/depots/${depot}.git/objects`), { recursive: true });
      writeFileSync(at(`state/depots/${depot}.git/objects/code`), `the code of ${depot}`);
    }
    const index = at('state/indexes/demo/ada');
    mkdirSync(index, { recursive: true });
    writeFileSync(join(index, 'state.json'), JSON.stringify({ depot: 'ours' }));
    mkdirSync(join(HERE(), '.git/objects/info'), { recursive: true });
    writeFileSync(join(HERE(), '.git/objects/info/alternates'), `${at('state/depots/theirs.git/objects')}\n`);
    const said = await run(`cat ${at('state/depots')}/*/objects/code 2>&1`);
    expect(said).toContain('the code of ours');
    expect(said).not.toContain('theirs');
  });

  test('writes its workspace and its own temporary folder, and nothing else', async () => {
    const targets = [at('outside'), at('state/x'), at('state/workspaces/demo/bob/x'), at('home/x'), '/etc/troupe-x'];
    const tries = targets.map((path) => `echo x 2>/dev/null > ${path}`).join('; ');
    const own = `/tmp/${crypto.randomUUID()}`;
    expect(await run(`echo mine > mine.txt; echo own > ${own} && cat ${own}; ${tries}; exit 0`)).toMatch(/^own$/m);
    expect(readFileSync(join(HERE(), 'mine.txt'), 'utf8')).toBe('mine\n');
    // What is hidden is an empty folder of its own: what it writes there reaches nobody.
    expect([...targets, own].filter((path) => existsSync(path))).toEqual([]);
  });

  test("reads no other member's token, no other member's work, and nothing of the home", async () => {
    const files = ['state/token', 'state/processes/bob.token', 'state/workspaces/demo/bob/work.txt', 'home/.ssh/id'];
    const said = await run(
      `cat ${files.map((file) => at(file)).join(' ')} 2>&1; ls -A ${at('home')} ${at('state')}; umount ${at('home')} 2>&1; exit 0`,
    );
    expect(said).not.toMatch(/token'?$|the key|the admin|bob's/m);
    expect(said.match(/No such file/g)).toHaveLength(4);
    expect(said).toMatch(/umount/);
  });

  test('reaches no port of this machine, and no other machine', async () => {
    const port = await serve('secret');
    const said = await run(`${get(`http://127.0.0.1:${port}`)}; ${get('http://192.0.2.1')}`);
    expect(said.split('\n')).toEqual(['failed ECONNREFUSED', 'failed ENETUNREACH']);
  });

  test('sees and signals no process of others', async () => {
    const other = spawn('sleep', ['600'], { stdio: 'ignore' });
    onTestFinished(() => void other.kill('SIGKILL'));
    const said = await run(
      `kill -9 ${other.pid} 2>&1; ls /proc | grep -c '^[0-9]'; kill -9 ${process.pid} 2>&1; exit 0`,
    );
    expect(said).toMatch(/No such process/);
    expect(other.exitCode ?? other.signalCode).toBeNull();
    expect(Number(said.match(/^\d+$/m)?.[0])).toBeLessThan(12);
  });

  test('takes along children that cleared their environment and left the group, whenever it ends', async () => {
    for (const last of ['sleep 600', 'exit 0']) {
      rmSync(join(HERE(), 'go'), { force: true });
      const pids: number[] = [];
      const children = `for i in 1 2 3 4 5; do env -i setsid sh -c 'echo > left.$0; exec sleep 600' $i & done;`;
      const wait = 'for i in 1 2 3 4 5; do while [ ! -e left.$i ]; do sleep 0.05; done; rm left.$i; done;';
      const script = `${children} ${wait} echo ready; read line; cat > /dev/null; while [ ! -e go ]; do sleep 0.05; done; ${last}`;
      const session = await start(script, box, { onProcess: (pid) => pids.push(pid) });
      await session.send(turn('x'), { when: 'next' });
      await session.heardText('ready');
      const [pid = 0] = pids;
      const family = descendants(pid);
      expect(family.length).toBeGreaterThan(5);
      // The time that they use is seen from outside, too.
      expect(findMarked(session.id).length).toBeGreaterThan(1);
      writeFileSync(join(HERE(), 'go'), '');
      if (last === 'sleep 600') await session.cancel();
      await session.end(1);
      await until('all processes of the sandbox are gone', () => !family.some(isThere));
    }
  });

  test('has its time to end when it is asked to', async () => {
    const session = await start(`trap 'echo saved > saved.txt; exit 0' TERM; echo ready; while :; do sleep 0.05; done`);
    await session.send(turn('x'), { when: 'next' });
    await session.heardText('ready');
    await session.cancel();
    expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
    expect(readFileSync(join(HERE(), 'saved.txt'), 'utf8')).toBe('saved\n');
  });

  test('ends with the process that started it, also one that is killed', async () => {
    const program = `
      import { openSandbox } from ${JSON.stringify(join(import.meta.dirname, '../../src/agents/sandbox/open.ts'))};
      import { startProcess } from ${JSON.stringify(join(import.meta.dirname, '../../src/agents/process.ts'))};
      const env = ${JSON.stringify(ENV())};
      const sandbox = await openSandbox({ settings: {}, state: ${JSON.stringify(at('state'))}, env });
      const command = ['/bin/sh', '-c', 'env -i setsid sleep 600 & echo ready; sleep 600'];
      const { child, identity } = await startProcess({ command, cwd: ${JSON.stringify(HERE())}, env, marker: 'x', sandbox });
      child.stdout.once('data', () => console.log(identity.pid));
    `;
    const owner = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const pid = await new Promise<number>((resolve) => owner.stdout.once('data', (text) => resolve(Number(text))));
    const family = descendants(pid);
    expect(family.length).toBeGreaterThanOrEqual(4);
    owner.kill('SIGKILL');
    await until('the sandbox is gone', () => ![pid, ...family].some(isThere));
    // The next sandbox removes what the killed process left.
    const before = boxes.length;
    await open({});
    expect(boxes.length).toBe(before + 1);
    expect(existsSync(at('state/box', `${owner.pid}-1`))).toBe(false);
  });

  test('reaches the daemon, by its socket and its port, with its own credential', async () => {
    const port = await serve('the daemon');
    const socket = createServer((_, answer) => answer.end('by socket'));
    servers.push(socket);
    await new Promise<void>((resolve) => socket.listen(at('state/daemon.sock'), resolve));
    let token = "ada's token";
    const daemon = { socket: at('state/daemon.sock'), token: () => token, url: () => `http://127.0.0.1:${port}` };
    const opened = await open({ network: 'none' }, { daemon });
    const bySocket = `node -e 'require("http").get({ socketPath: process.argv[1] }, (r) => r.pipe(process.stdout))'`;
    const script = `${bySocket} ${opened.home}/daemon.sock; echo; cat ${opened.home}/token; ${get(`http://127.0.0.1:${port}`)}`;
    expect((await run(script, opened)).split('\n')).toEqual(['by socket', "ada's token", 'the daemon']);
    token = 'the next token';
    opened.refresh();
    expect(await run(`cat ${opened.home}/token; echo x 2>&1 > ${opened.home}/token; exit 0`, opened)).toMatch(
      /^the next token/,
    );
    expect(readFileSync(join(opened.home, 'token'), 'utf8')).toBe('the next token\n');
  });

  test('reaches the hosts and ports that its settings name, and no others', async (context) => {
    const address = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    context.skip(address === undefined, 'this machine has no address but loopback');
    const [near, far, other] = [await serve('near'), await serve('far', address), await serve('other', address)];
    const opened = await open({ network: [`127.0.0.1:${near}`, `${address}:${far}`] });
    const script = [`127.0.0.1:${near}`, `${address}:${far}`, `${address}:${other}`].map((host) =>
      get(`http://${host}`),
    );
    const said = await run(script.join(';'), opened);
    expect(said.split('\n').slice(0, 2)).toEqual(['near', 'far']);
    expect(said).not.toContain('other');
  });

  test('reads and writes what its settings open; a deeper one counts', async () => {
    for (const name of ['home/data/private', 'shared']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('home/data/a.txt'), 'readable');
    const opened = await open({ read: ['~/data'], write: [at('shared')] });
    const said = await run(
      `cat ~/data/a.txt; echo x 2>/dev/null > ~/data/b.txt || echo kept; echo y > ${at('shared/y.txt')}; cat ~/.ssh/id 2>/dev/null; exit 0`,
      opened,
    );
    expect(said).toBe('readablekept');
    expect(readFileSync(at('shared/y.txt'), 'utf8')).toBe('y\n');
  });

  test.each([
    ['its home', () => ({ cwd: at('home') }), /open all of/],
    ['a folder above the state directory', () => ({ cwd: root }), /open all of/],
    ['a link out of its workspace', () => ({ cwd: at('state/workspaces/demo/ada/link') }), /it is a link/],
    ['a file of the state directory', () => ({ settings: { read: [at('state/token')] } }), /state directory/],
    ['a missing file to write', () => ({ settings: { write: [at('nowhere')] } }), /does not exist/],
  ] as const)('is refused %s', async (_, what, why) => {
    rmSync(at('state/workspaces/demo/ada/link'), { force: true });
    symlinkSync(at('home/.ssh'), at('state/workspaces/demo/ada/link'));
    const { cwd = HERE(), settings = {} } = what() as { cwd?: string; settings?: SandboxSettings };
    const opened = await open(settings);
    expect(() => opened.wrap({ command: ['true'], cwd, env: ENV() })).toThrow(why);
  });
});

/** The processes that descend from one, also those that left its group. */
function descendants(pid: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name): [number, number] => [Number(name), parentOf(name)]),
  );
  const below = (one: number): number[] =>
    [...parents].flatMap(([child, parent]) => (parent === one ? [child, ...below(child)] : []));
  return below(pid);
}

function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \S+ (\d+).*$/s, '$1'));
  } catch {
    return 0;
  }
}
