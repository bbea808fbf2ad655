import { expect, onTestFinished, test, vi } from 'vitest';
import { McpProxy } from '../../src/cli/commands/mcp/proxy.ts';
import { CallError } from '../../src/client/client.ts';
import type { Connect } from '../../src/client/client.ts';

/** A daemon for the proxy: records what it got, and can answer, disconnect, or be absent. */
function daemon(): { connect: Connect; sent: Message[]; say(message: object): void; hangUp(): void; isThere: boolean } {
  let handlers: Parameters<Connect>[0] | undefined;
  const world = {
    isThere: true,
    sent: [] as Message[],
    connect: (async (given) => {
      if (!world.isThere) throw new CallError('no_daemon', 'nobody answers');
      handlers = given;
      return {
        send: (text) => {
          const message: Message = JSON.parse(text);
          if (message.type === 'mcp') given.receive(JSON.stringify({ type: 'result', id: 0, result: {} }));
          world.sent.push(message);
        },
        close: () => given.closed('closed'),
      };
    }) satisfies Connect,
    say: (message: object) => handlers?.receive(JSON.stringify(message)),
    hangUp: () => handlers?.closed('gone'),
  };
  return world;
}

// oxlint-disable-next-line typescript/no-explicit-any -- Tests look into messages as they like.
type Message = any;

function open(connect: Connect, patience = 1_000): { proxy: McpProxy; heard: Message[] } {
  const heard: Message[] = [];
  const proxy = new McpProxy({
    connect,
    greeting: { session: 's' },
    patience,
    write: (line) => void heard.push(JSON.parse(line)),
  });
  return { proxy, heard };
}

const say = (proxy: McpProxy, message: object): void => proxy.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));

test('repeats the handshake after a lost connection and drops its answer', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect);
  await proxy.open();
  say(proxy, { id: 0, method: 'initialize', params: {} });
  world.say({ jsonrpc: '2.0', id: 0, result: { first: true } });
  say(proxy, { method: 'notifications/initialized' });
  world.sent.length = 0;
  world.hangUp();
  await expect.poll(() => world.sent).toHaveLength(3);
  expect(world.sent).toMatchObject([
    { type: 'mcp', payload: { session: 's' } },
    { id: 0, method: 'initialize' },
    { method: 'notifications/initialized' },
  ]);
  world.say({ jsonrpc: '2.0', id: 0, result: { first: false } });
  world.say({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
  expect(heard).toMatchObject([{ id: 0, result: { first: true } }, { method: 'notifications/message' }]);
});

test('ends when all calls are answered, in any order', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect);
  say(proxy, { id: 0, method: 'initialize', params: {} });
  say(proxy, { method: 'notifications/initialized' });
  say(proxy, { id: 1, method: 'tools/list' });
  await proxy.open();
  expect(world.sent.slice(1)).toMatchObject([{ id: 0 }, { method: 'notifications/initialized' }, { id: 1 }]);
  let isOver = false;
  const end = proxy.finish().then(() => (isOver = true));
  world.say({ jsonrpc: '2.0', id: 1, result: {} });
  await Promise.resolve();
  expect(isOver).toBe(false);
  world.say({ jsonrpc: '2.0', id: 0, result: {} });
  await end;
  expect(heard).toMatchObject([{ id: 1 }, { id: 0 }]);
});

test('cancels waiting calls when the client closes its input, and answers the rest', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect);
  await proxy.open();
  const claim = (wait_seconds: unknown): object => ({ name: 'TaskClaim', arguments: { wait_seconds } });
  say(proxy, { id: 1, method: 'tools/call', params: claim(60) });
  say(proxy, { id: 2, method: 'tools/call', params: claim('5') });
  say(proxy, { id: 3, method: 'tools/call', params: claim(0) });
  world.sent.length = 0;
  const end = proxy.finish();
  expect(world.sent).toMatchObject([
    { method: 'notifications/cancelled', params: { requestId: 1 } },
    { method: 'notifications/cancelled', params: { requestId: 2 } },
  ]);
  world.say({ jsonrpc: '2.0', id: 3, result: {} });
  await end;
  expect(heard).toMatchObject([{ id: 3 }]);
});

test('resends unanswered calls under the same id, but not cancelled ones', async () => {
  const world = daemon();
  const { proxy } = open(world.connect);
  await proxy.open();
  const call = {
    method: 'tools/call',
    params: { name: 'TaskClaim', arguments: { a: 1 }, _meta: { progressToken: 7 } },
  };
  say(proxy, { id: 1, ...call });
  say(proxy, { id: 2, ...call });
  say(proxy, { id: 3, method: 'tools/list' });
  say(proxy, { method: 'notifications/cancelled', params: { requestId: 2 } });
  world.say({ jsonrpc: '2.0', id: 3, result: {} });
  const [, first, second] = world.sent as [unknown, Message, Message];
  expect(first.params).toMatchObject({ name: 'TaskClaim', arguments: { a: 1 }, _meta: { progressToken: 7 } });
  const nameOf = ({ params: { _meta: meta } }: Message): string => meta['troupe/commandId'];
  expect(nameOf(first)).toMatch(/^[0-9a-f-]{36}$/);
  expect(nameOf(first)).not.toBe(nameOf(second));
  world.sent.length = 0;
  world.hangUp();
  await expect.poll(() => world.sent).toHaveLength(2);
  expect(world.sent[1]).toEqual(first);
});

test('refuses a call that breaks the connection each time', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect);
  await proxy.open();
  say(proxy, { id: 1, method: 'tools/call', params: {} });
  for (let tries = 1; heard.length === 0; tries++) {
    expect(tries).toBeLessThan(10);
    await expect.poll(() => world.sent.filter(({ id }) => id === 1).length === tries || heard.length > 0).toBe(true);
    if (heard.length === 0) world.hangUp();
  }
  expect(heard).toMatchObject([{ id: 1, error: { message: expect.stringContaining('each time') } }]);
});

test('refuses calls while there is no daemon, and works again when there is one', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect, 50);
  await proxy.open();
  world.isThere = false;
  world.hangUp();
  say(proxy, { id: 1, method: 'tools/list' });
  await expect.poll(() => heard).toMatchObject([{ id: 1, error: { code: -32000, message: 'nobody answers' } }]);
  world.isThere = true;
  say(proxy, { id: 2, method: 'tools/list' });
  await expect.poll(() => world.sent.at(-1)).toMatchObject({ id: 2 });
});

test('fails to open when the daemon refuses', async () => {
  const refusing: Connect = async (handlers) => ({
    send: () => handlers.receive(JSON.stringify({ type: 'error', error: { code: 'not_allowed', message: 'no' } })),
    close: () => {},
  });
  await expect(open(refusing).proxy.open()).rejects.toMatchObject({ code: 'not_allowed', message: 'no' });
});

test('does not forward invalid messages to client or daemon', async () => {
  const world = daemon();
  const { proxy, heard } = open(world.connect);
  await proxy.open();
  proxy.receive('{"jsonrpc"');
  proxy.receive('7');
  say(proxy, { id: 1, method: 'tools/call', params: { text: 'x'.repeat(1024 * 1024) } });
  world.say({ type: 'cut', cursors: {} });
  expect(world.sent).toHaveLength(1);
  expect(heard).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: null, error: { code: -32700 } },
    { id: 1, error: { message: expect.stringContaining('at most') } },
  ]);
});

test('tells the next daemon about the team that the client made', async () => {
  const world = daemon();
  const { proxy } = open(world.connect);
  await proxy.open();
  say(proxy, { id: 1, method: 'tools/call', params: {} });
  world.say({ jsonrpc: '2.0', id: 1, result: { _meta: { 'troupe/session': { team: 'made', as: 'lead' } } } });
  world.hangUp();
  await expect.poll(() => world.sent.at(-1)?.payload).toEqual({ session: 's', team: 'made', as: 'lead' });
});

test('does not wait for waiting calls when its client closes its input, only for the others', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const world = daemon();
  const { proxy } = open(world.connect);
  await proxy.open();
  const call = (id: number, wait_seconds: number): void =>
    say(proxy, { id, method: 'tools/call', params: { name: 'Inbox', arguments: { wait_seconds } } });
  call(1, 60);
  // The clock stands still: if it waited for anything, it would never end.
  await proxy.finish();
  expect(world.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });

  const other = open(world.connect).proxy;
  await other.open();
  say(other, { id: 2, method: 'tools/call', params: { name: 'Inbox', arguments: {} } });
  const finishing = other.finish();
  expect(vi.getTimerCount()).toBe(1);
  world.say({ jsonrpc: '2.0', id: 2, result: {} });
  await finishing;
});
