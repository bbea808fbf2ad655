import { once } from 'node:events';
import { WebSocket } from 'ws';

/** What a Node process says about itself after a garbage collection. */
export interface Inside {
  /** Bytes of what the program holds, in V8's heap and beside it. */
  readonly data: number;
  /** Bytes of compiled code: V8 compiles more as long as it learns what is called often, which takes longer than ten minutes. */
  readonly code: number;
  /** Handles and requests that keep its event loop alive, by kind: sockets, timers, pipes, children. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Asks a process over Node's inspector, so that the product needs nothing for it. */
export interface Inspector {
  look(): Promise<Inside>;
  close(): void;
}

/** Connects to a process that was started with `--inspect`, by what it printed about that. */
export async function inspect(stderr: string): Promise<Inspector> {
  const url = /Debugger listening on (ws:\S+)/.exec(stderr)?.[1];
  if (url === undefined) throw new Error(`It was not started with --inspect: ${stderr}`);
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  const waiting = new Map<number, (answer: unknown) => void>();
  socket.on('message', (data: Buffer) => {
    const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let last = 0;
  const ask = <T>(method: string, params: object = {}): Promise<T> =>
    new Promise((resolve) => {
      waiting.set(++last, resolve as (answer: unknown) => void);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return {
    async look() {
      // Twice: what finalizers let go in the first is free after the second.
      await ask('HeapProfiler.collectGarbage');
      await ask('HeapProfiler.collectGarbage');
      const { result } = await ask<{ result: { value: Inside } }>('Runtime.evaluate', {
        expression: LOOK,
        returnByValue: true,
      });
      return result.value;
    },
    close: () => socket.terminate(),
  };
}

const LOOK = `(() => {
  const sizes = { data: process.memoryUsage().external, code: 0 };
  for (const { space_name: name, space_used_size: size } of process.getBuiltinModule('node:v8').getHeapSpaceStatistics()) {
    sizes[/code|trusted/.test(name) ? 'code' : 'data'] += size;
  }
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  return { ...sizes, resources };
})()`;
