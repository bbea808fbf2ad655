import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/operations/index.ts';
import { anyText } from '../any-text.ts';
import { rounds, tell } from '../proof.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket, requestText, upgradeText, webSocketFrame } from './wire.ts';

/** How many malformed lines, frames and bodies were sent. */
let sent = 0;
const limits = { unreadableFrames: 1e9, requestBurst: 1e9, authDelayMs: 0, connectionsPerToken: 256, unanswered: 1e9 };

const TEXTS = ['demo', 'worker', 'lead', '1', '../..', '', '\u0000', '__proto__', '\ud800', 'x'.repeat(2_000)];
const SCALARS = [0, -1, 0.5, 1e308, 2 ** 53, true, false, null];
const SHAPES: unknown[] = [[], {}, [[]], [null], ['1'], { toString: 1 }, { length: -1 }];

/** Values that often break something. Most of them are small, because there are many. */
const value = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom<unknown>(...TEXTS, ...SCALARS, ...SHAPES),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const names = OPERATIONS.flatMap(({ name, message }) => (message ? [name, message.type] : [name]));
const own = ['hello', 'subscribe', 'unsubscribe', 'cancel', 'ping', 'mcp', 'events', 'constructor', '__proto__'];
// Without `wait`: a call that waits is not malformed, and takes time.
const keys = [...new Set(OPERATIONS.flatMap(({ input }) => Object.keys(input.shape)))].filter((key) => key !== 'wait');
const payload = fc.oneof(value, fc.dictionary(fc.constantFrom(...keys, '__proto__', 'x'), value, { maxKeys: 6 }));
/** Almost a frame: the names are right, the values are not. */
const nearly = fc
  .record(
    {
      type: fc.constantFrom(...names, ...own),
      id: value,
      payload,
      as: value,
      commandId: value,
      teamId: value,
      after: value,
    },
    { requiredKeys: ['type'] },
  )
  .map((frame) => JSON.stringify(frame));
const text = fc.oneof(
  { weight: 20, arbitrary: nearly },
  { weight: 10, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 10, arbitrary: anyText(60) },
  { weight: 10, arbitrary: nearly.map((frame) => frame.slice(0, frame.length / 2)) },
  { weight: 1, arbitrary: fc.constantFrom('['.repeat(100_000), '{"a":'.repeat(20_000), '"', '{}', '9'.repeat(10_000)) },
);
const bytes = fc.uint8Array({ maxLength: 80 });

/** All that was received until the other side closed the connection or `isDone` was true. */
async function converse(
  socket: Socket,
  write: (socket: Socket) => void,
  isDone: (answer: Buffer) => boolean,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('error', () => {});
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isDone(Buffer.concat(chunks))) resolve();
    });
    socket.once('close', () => resolve());
    write(socket);
  });
  socket.destroy();
  return Buffer.concat(chunks);
}

async function expectWell(stage: Stage): Promise<void> {
  expect(stage.errors).toEqual([]);
  const wire = await openUnix(stage.home.socket, stage.token);
  expect(await wire.ask({ type: 'team.status', payload: { teamId: 'demo' } })).toMatchObject({ type: 'result' });
  const webSocket = await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
  expect(await webSocket.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  const answer = await fetch(`${stage.url}/api/teams`, { headers: { authorization: `Bearer ${stage.token}` } });
  expect(answer.status).toBe(200);
}

test('lines on the Unix socket', async () => {
  const stage = await setStage({ limits });
  const lines = fc.array(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: bytes }), {
    minLength: 60,
    maxLength: 100,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('worker', 'reader', 'none'), lines, async (who, frames) => {
      sent += frames.length;
      const answer = await converse(
        createConnection(stage.home.socket),
        (socket) => {
          if (who !== 'none') socket.write(`{"type":"hello","token":"${stage.tokens[who as 'worker']}"}\n`);
          for (const frame of frames) {
            socket.write(frame);
            socket.write('\n');
          }
          socket.write('{"type":"ping","id":"the end"}\n');
        },
        (soFar) => soFar.includes('"the end"'),
      );
      const answers = answer.toString().split('\n').filter(Boolean);
      for (const one of answers) expect(JSON.parse(one)).toHaveProperty('type');
      expect(answers.some((one) => one.includes('"internal"'))).toBe(false);
    }),
    { numRuns: rounds(60, 9_800) },
  );
  await expectWell(stage);
});

test('frames on a WebSocket', async () => {
  const stage = await setStage({ limits });
  const frame = fc
    .record({
      payload: fc.oneof(text, bytes),
      opcode: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(0, 1) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 15 }) },
      ),
      fin: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.boolean() }),
      reserved: fc.oneof(
        { weight: 20, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 7 }) },
      ),
      masked: fc.oneof({ weight: 30, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      length: fc.oneof(
        { weight: 30, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 31 }) },
      ),
    })
    .map(({ payload: data, length, ...rest }) =>
      webSocketFrame(typeof data === 'string' ? Buffer.from(data) : data, {
        ...rest,
        ...(length !== undefined && { length }),
      }),
    );
  const codes = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 20, maxLength: 40, size: 'max' }), async (frames) => {
      sent += frames.length;
      const opening = upgradeText('/ws', [
        ['host', `127.0.0.1:${stage.port}`],
        ['authorization', `Bearer ${stage.tokens.worker}`],
      ]);
      const answer = await converse(
        createConnection({ host: '127.0.0.1', port: stage.port }),
        (socket) => {
          socket.write(opening);
          for (const one of frames) socket.write(one);
          socket.end(webSocketFrame('', { opcode: 8 }));
        },
        () => false,
      );
      expect(answer.toString('latin1', 0, 12)).toBe('HTTP/1.1 101');
      const code = closeCode(answer);
      if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1);
    }),
    { numRuns: rounds(60, 8_300) },
  );
  // A code from 3000 on is the client's own, sent back: a random close frame may carry one.
  const ours = [...codes.keys()].filter((code) => code < 3000);
  expect(ours.filter((code) => ![1000, 1002, 1003, 1005, 1007, 1008, 1009].includes(code))).toEqual([]);
  expect(codes.get(1002)).toBeGreaterThan(rounds(5, 100));
  await expectWell(stage);
});

test('bodies and requests over HTTP', async () => {
  const stage = await setStage({ limits });
  const routes = OPERATIONS.map(({ route }) =>
    route.replace(/:(\w+)/g, (_, name: string) => (name === 'teamId' ? 'demo' : '1')),
  );
  const body = fc.tuple(fc.constantFrom(...routes), fc.oneof(text, bytes)).map(([route, data]) => {
    const [method = '', path = ''] = route.split(' ');
    const content = Buffer.from(data as string);
    const head = requestText(method, path, [
      ['host', `127.0.0.1:${stage.port}`],
      ['authorization', `Bearer ${stage.tokens.worker}`],
      ['content-type', 'application/json'],
      ['content-length', String(content.length)],
    ]);
    return Buffer.concat([Buffer.from(head.replace('connection: close\r\n', '')), content]);
  });
  const junk = fc.oneof(
    bytes,
    anyText(200).map((line) => Buffer.from(`GET ${line}\r\n\r\n`)),
  );
  const statusesIn = (answer: Buffer): number[] =>
    [...answer.toString('latin1').matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 25, maxLength: 40, size: 'max' }), junk, async (bodies, last) => {
      sent += bodies.length + 1;
      // A client that closes its side gets no more answers, so the junk comes after all other answers.
      let isOver = false;
      const socket = createConnection({ host: '127.0.0.1', port: stage.port });
      const answer = await converse(
        socket,
        () => bodies.forEach((one) => socket.write(one)),
        (soFar) => {
          if (!isOver && statusesIn(soFar).length >= bodies.length) {
            isOver = true;
            socket.end(last);
          }
          return false;
        },
      );
      const statuses = statusesIn(answer);
      expect(statuses.length).toBeGreaterThanOrEqual(bodies.length);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
    }),
    { numRuns: rounds(20, 200) },
  );
  await expectWell(stage);
});

test('a long line, a long message and tiny fragments', async () => {
  const stage = await setStage({ limits: { ...limits, messageBytes: 100_000 } });
  const opening = upgradeText('/ws', [
    ['host', `127.0.0.1:${stage.port}`],
    ['authorization', `Bearer ${stage.token}`],
  ]);
  const closedWith = async (...frames: Buffer[]): Promise<number | undefined> =>
    closeCode(
      await converse(
        createConnection({ host: '127.0.0.1', port: stage.port }),
        (socket) => {
          socket.write(opening);
          for (const one of frames) socket.write(one);
        },
        (soFar) => closeCode(soFar) !== undefined,
      ),
    );
  const piece = (opcode: number, fin = false): Buffer => webSocketFrame('x', { opcode, fin });
  const pieces = (count: number): Buffer[] => Array.from({ length: count }, () => piece(0));
  expect(await closedWith(webSocketFrame('x'.repeat(100_001)))).toBe(1009);
  expect(await closedWith(webSocketFrame('', { length: 2 ** 31 }))).toBe(1009);
  expect(await closedWith(piece(1), ...pieces(70))).toBe(1008);
  expect(await closedWith(webSocketFrame(Buffer.from([0xff, 0xfe])))).toBe(1007);
  expect(await closedWith(webSocketFrame('x', { opcode: 2 }))).toBe(1003);
  expect(await closedWith(webSocketFrame('x', { masked: false }))).toBe(1002);
  expect(await closedWith(webSocketFrame('x', { reserved: 4 }))).toBe(1002);
  expect(await closedWith(webSocketFrame('x', { opcode: 3 }))).toBe(1002);
  expect(await closedWith(webSocketFrame('x', { opcode: 9, fin: false }))).toBe(1002);
  await expectWell(stage);
});

test('endless pings from a client that reads nothing are not all answered', async () => {
  const stage = await setStage({ limits: { queueBytes: 100_000 } });
  const socket = createConnection({ host: '127.0.0.1', port: stage.port });
  socket.on('error', () => {}).pause();
  socket.write(
    upgradeText('/ws', [
      ['host', `127.0.0.1:${stage.port}`],
      ['authorization', `Bearer ${stage.token}`],
    ]),
  );
  const pings = Buffer.concat(Array.from({ length: 1_000 }, () => webSocketFrame('x'.repeat(125), { opcode: 9 })));
  await expect.poll(() => stage.hub.connected.size).toBe(1);
  let open = true;
  socket.once('close', () => (open = false));
  while (open && stage.hub.connected.size === 1) {
    await new Promise((resolve) => socket.write(pings, resolve));
  }
  socket.destroy();
  expect(stage.hub.connected.size).toBe(0);
  await expectWell(stage);
});

test('thousands of malformed inputs were sent', () => {
  expect(sent).toBeGreaterThanOrEqual(rounds(5_000, 1_000_000));
  tell({ frames: sent });
});

/** The code of the close frame at the end of what a server sent. */
function closeCode(answer: Buffer): number | undefined {
  let at = answer.indexOf('\r\n\r\n') + 4;
  while (at + 2 <= answer.length) {
    const opcode = (answer[at] as number) & 0x0f;
    let length = (answer[at + 1] as number) & 0x7f;
    at += 2;
    if (length === 126) {
      length = answer.readUInt16BE(at);
      at += 2;
    } else if (length === 127) {
      length = Number(answer.readBigUInt64BE(at));
      at += 8;
    }
    if (opcode === 8 && at + length <= answer.length) return length >= 2 ? answer.readUInt16BE(at) : 1005;
    at += length;
  }
  return undefined;
}
