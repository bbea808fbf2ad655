import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mcpHttp } from '../../src/mcp/http.ts';
import { serveMcpLines } from '../../src/mcp/lines.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { tries } from '../proof.ts';
import { member, openTeam } from './house.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** Messages that are almost right, calls of our tools with arguments of all kinds, and plain noise. */
const call = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.oneof(fc.integer(), fc.string()),
  method: fc.constant('tools/call'),
  params: fc.record({
    name: fc.constantFrom(...TOOLS.map(({ name }) => name)),
    arguments: fc.oneof(
      fc.dictionary(
        fc.constantFrom(...TOOLS.flatMap(({ input }) => Object.keys(input.shape)), 'team_name', '__proto__', 'as'),
        fc.oneof(fc.jsonValue(), fc.constantFrom('1', 'alice', '*', 'team-lead', 'demo')),
      ),
      fc.jsonValue(),
    ),
    _meta: fc.oneof(fc.constant({}), fc.constant({ progressToken: 1, 'troupe/commandId': 7 }), fc.jsonValue()),
  }),
});
const almost = fc.record(
  { jsonrpc: fc.constantFrom('2.0', '1.0', 2), id: fc.jsonValue(), method: fc.string(), params: fc.jsonValue() },
  { requiredKeys: [] },
);
const noise = fc.oneof(
  fc.string(),
  fc.json(),
  fc.constantFrom('[]', 'null', '['.repeat(100_000), '{"a":'.repeat(20_000)),
);
const line = fc.oneof(
  call.map((one) => JSON.stringify(one)),
  almost.map((one) => JSON.stringify(one)),
  noise,
);
// A call may wait as long as it asks to; none must wait here.
const quick = line.map((text) => text.replaceAll('wait_seconds', 'wait_second'));

test('answers or ignores any line, and still works', async () => {
  const house = await openTeam();
  await fc.assert(
    fc.asyncProperty(fc.array(quick, { minLength: 10, maxLength: 60 }), async (lines) => {
      const heard = new Map<unknown, unknown>();
      const connection = serveMcpLines(house.services, {
        caller: member('alice'),
        greeting: {},
        send: (text) => {
          const message = JSON.parse(text) as { id?: unknown; result?: unknown };
          heard.set(message.id, message.result);
        },
      });
      connection.receive(JSON.stringify(INITIALIZE));
      for (const text of lines) connection.receive(text);
      connection.receive('{"jsonrpc":"2.0","id":"last","method":"tools/list"}');
      await expect.poll(() => heard.get('last')).toHaveProperty('tools');
      connection.close();
    }),
    tries(30),
  );
  const strangers = (await house.events('demo')).filter(({ by }) => by !== 'alice' && by !== '@user');
  expect(strangers).toEqual([]);
});

test('answers any request over HTTP, and still works', async () => {
  const house = await openTeam();
  const http = mcpHttp(house.services);
  const post = async (body: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body });
    const response = await http.handle(request, { caller: member('alice') });
    await response.text();
    return response.status;
  };
  await fc.assert(
    fc.asyncProperty(quick, async (body) => {
      expect([200, 202, 400, 404]).toContain(await post(body));
    }),
    tries(250),
  );
  expect(await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toBe(200);
  await http.close();
});
