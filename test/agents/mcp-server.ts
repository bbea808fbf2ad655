import { createInterface } from 'node:readline';

/** A server of tools over MCP with one tool, `whisper`, which says what GREETING has. Run as a program. */
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
  const result = method === undefined ? undefined : answers()[method];
  if (id !== undefined && result) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

function answers(): Readonly<Record<string, object>> {
  return {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'whispers', version: '1' },
    },
    ping: {},
    'tools/list': {
      tools: [{ name: 'whisper', description: 'Whispers', inputSchema: { type: 'object', properties: {} } }],
    },
    'tools/call': { content: [{ type: 'text', text: `whispered ${process.env['GREETING']}` }] },
  };
}
