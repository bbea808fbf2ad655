import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import type { TeamTools } from '../../src/agents/agent.ts';
import { Client } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { BIN, environmentFor } from '../daemon/serve.ts';

/** A team with one member, `worker`, whose agent is the test's. */
export interface Team {
  readonly id: string;
  readonly client: Client;
  /** The member's credential. */
  readonly token: string;
  /** How the member's agent reaches the team. */
  readonly tools: TeamTools;
}

/** A daemon for all tests of a suite; the first test that needs a team starts it. */
export interface Teams {
  /** Makes a new team. */
  make(): Promise<Team>;
}

/** Call it inside `describe`: the daemon ends after the last test of that suite. */
export function shareDaemon(): Teams {
  let starting: Promise<Daemon> | undefined;
  let made = 0;
  afterAll(async () => (await starting)?.end());
  return {
    async make() {
      const { client, home, url } = await (starting ??= startDaemon());
      const id = `demo-${++made}`;
      await client.call('team.create', { name: id, leadName: 'lead' });
      await client.call('member.add', { teamId: id, name: 'worker', role: 'worker' });
      const { token } = await client.call('member.token', { teamId: id, memberId: 'worker' });
      const tools: TeamTools = {
        name: 'troupe',
        http: { url: `${url}/mcp`, headers: { authorization: `Bearer ${token}` } },
        stdio: { command: process.execPath, args: [BIN, 'mcp'], env: { TROUPE_HOME: home.directory } },
      };
      return { id, client, token, tools };
    },
  };
}

interface Daemon {
  readonly home: Home;
  readonly url: string;
  readonly client: Client;
  end(): Promise<void>;
}

async function startDaemon(): Promise<Daemon> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
  const home = homeAt(join(folder, 'home'));
  mkdirSync(home.directory, { mode: 0o700 });
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [BIN, 'serve', '--json'], { stdio: [...stdio], env: environmentFor(home) });
  const { url } = JSON.parse(await firstLine(child)) as { url: string };
  const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }));
  return {
    home,
    url,
    client,
    async end() {
      client.close();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout as NonNullable<typeof stdout> })) return line;
  throw new Error('The daemon ended before it was ready');
}
