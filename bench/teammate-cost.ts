import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Benchmark } from './benchmark.ts';
import { privateBytes, startDaemon } from './daemon.ts';
import type { BenchDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { median } from './rounds.ts';

const MEGABYTE = 1024 * 1024;

/** The cost of an idle teammate, without its agent. */
export const teammateCost: Benchmark = {
  name: 'teammate-cost',
  unit: 'MB',
  about: 'private memory per idle teammate beyond the agent itself, over the shared MCP endpoint',
  target: 'at most 1 MB each',
  async run(scale) {
    using workspace = openWorkspace();
    await using daemon = await startDaemon(workspace.folder);
    await daemon.client.call('team.create', { name: 'demo', maxTeammates: 32 });
    const count = Math.max(4, scale.size(32));
    for (let i = 1; i <= count; i++) await daemon.client.call('member.add', { teamId: 'demo', name: `w${i}` });
    // The first one loads the code that all share.
    const first = await idleTeammate(daemon, 'w1');
    const before = await settled(daemon.pid);
    const sessions = [];
    for (let i = 2; i <= count; i++) sessions.push(await idleTeammate(daemon, `w${i}`));
    const after = await settled(daemon.pid);
    for (const session of [first, ...sessions]) await session.close();
    const each = Math.max(0, after - before) / (count - 1) / MEGABYTE;
    const stdio = await stdioServer(daemon);
    return {
      value: each,
      limit: 'a stdio MCP server each (ours: troupe mcp)',
      limitValue: stdio,
      ratio: each / stdio,
      peers: [{ name: 'troupe mcp on stdio', value: stdio, ratio: each / stdio }],
      targets: [{ what: 'MB each', value: each, atMost: 1 }],
      more: { teammates: count },
    };
  },
};

/** A teammate that has read its tools and its tasks, and waits. */
async function idleTeammate({ client, url }: BenchDaemon, memberId: string): Promise<{ close(): Promise<void> }> {
  const { token } = await client.call('member.token', { teamId: 'demo', memberId });
  const mcp = new McpClient({ name: 'bench', version: '0' });
  const headers = { authorization: `Bearer ${token}` };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  await mcp.listTools();
  await mcp.callTool({ name: 'TaskList', arguments: {} });
  return { close: () => mcp.close() };
}

/** The median of several samples, because the size of a heap varies. */
async function settled(pid: number): Promise<number> {
  const looks: number[] = [];
  for (let i = 0; i < 5; i++) looks.push((await privateBytes(pid)) ?? Number.NaN);
  return median(looks);
}

async function stdioServer({ home }: BenchDaemon): Promise<number> {
  const troupe = join(import.meta.dirname, '..', 'bin', 'troupe.js');
  const env = {
    ...process.env,
    TROUPE_HOME: home.directory,
    TROUPE_TOKEN: readFileSync(home.tokenFile, 'utf8').trim(),
  };
  const child = spawn(process.execPath, [troupe, 'mcp', '--team', 'demo'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '0' } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const bytes = (await privateBytes(child.pid ?? 0)) ?? Number.NaN;
  child.kill('SIGTERM');
  return bytes / MEGABYTE;
}
