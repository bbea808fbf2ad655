import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Home } from '../../src/client/home.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { use } from '../mcp/house.ts';
import { until } from '../until.ts';
import { BIN, connect, environmentFor, serve, temporaryHome } from './serve.ts';

const teamId = 'demo';

test('a running member and its tools go on after every credential was revoked, and after the key was lost', async () => {
  const home = temporaryHome();
  const daemon = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: teamId });
  const [begun, mayEnd] = [join(home.directory, 'begun'), join(home.directory, 'may-end')];
  // A turn about a task that says so ends when the test wants it to.
  const script = `if grep -q long-turn; then touch ${begun}; until [ -e ${mayEnd} ]; do sleep 0.05; done; fi; echo done`;
  const agent = { kind: 'exec', command: ['sh', '-c', script] } as const;
  await client.call('member.spawn', { teamId, name: 'ada', agent });
  await work(client, 'before');
  const { pid, tokenFile } = processOf(home);
  const before = readFileSync(tokenFile, 'utf8');
  const tools = await toolsOf(home, tokenFile);

  const { id: taskId } = await client.call('task.create', { teamId, title: 'long-turn' });
  await until('it is in the middle of a turn', () => existsSync(begun));
  await client.call('token.rotate', {});
  writeFileSync(mayEnd, '');
  await until('the turn has ended, and its result is here', async () => {
    const { status, result } = await client.call('task.show', { teamId, taskId });
    return status === 'completed' && result?.includes('done');
  });
  await work(client, 'after it was rotated');
  expect(processOf(home).pid, 'no other process was started').toBe(pid);
  expect((await use(tools, 'TeamStatus')).data).toMatchObject({ team_name: teamId, you: 'ada' });
  expect(readFileSync(tokenFile, 'utf8')).not.toBe(before);
  const refused = await fetch(`${daemon.url}/api/teams`, { headers: { authorization: `Bearer ${before}` } });
  expect(refused.status).toBe(401);

  await tools.close();
  await client.call('daemon.stop', { keep: true });
  await daemon.ended;
  rmSync(home.secretFile);
  await serve(home);
  await work(client, 'after the key was lost');
  expect(processOf(home).pid, 'no other process was started').toBe(pid);
  await client.call('team.close', { teamId, force: true });
  await until('its process has ended', () => openProcessRecords(home.processes).list().length === 0);
});

/** Resolves when the member has completed a new task. */
async function work(client: Client, title: string): Promise<void> {
  const { id: taskId } = await client.call('task.create', { teamId, title });
  await until(`the task is done: ${title}`, async () => {
    const { status } = await client.call('task.show', { teamId, taskId });
    return status === 'completed';
  });
}

function processOf(home: Home): { pid: number | undefined; tokenFile: string } {
  const [record] = openProcessRecords(home.processes).list();
  return { pid: record?.identity?.pid, tokenFile: join(home.processes, `${record?.id}.token`) };
}

/** An agent of the member, which has started the team's tools. */
async function toolsOf(home: Home, tokenFile: string): Promise<McpClient> {
  const client = new McpClient({ name: 'test', version: '0' });
  const env = environmentFor(home, { TROUPE_TOKEN_FILE: tokenFile }) as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp'], env }));
  return client;
}
