import { z } from 'zod';
import { TeamError } from '../../core/errors.ts';
import type { LiveProgram } from '../live-program.ts';
import { readLines } from '../read-lines.ts';

/** A line from the app-server: an answer to us, a question, or news. It leaves out the `jsonrpc` member. */
const Line = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

/** Requests and answers with an app-server. */
export interface Connection {
  request(method: string, params: object): Promise<unknown>;
  notify(method: string): void;
}

/** Handles what the app-server sends by itself. */
export interface Hearer {
  news(method: string, params: unknown): void;
  /** Answers a question; undefined for an unknown one. */
  question(method: string, params: unknown): Promise<object | undefined>;
}

/** A larger message is a mistake; waiting for its end would fill our memory. */
const LINE_LIMIT = 64 * 1024 * 1024;

const METHOD_NOT_FOUND = -32_601;

/** Connects to a running app-server. Requests after its end, or open at its end, are rejected with the reason. */
export function connect({ stdin, stdout, gone }: LiveProgram, hearer: Hearer): Connection {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let lost: string | undefined;
  void gone.then((reason) => {
    lost = reason;
    for (const { reject } of open.values()) reject(new TeamError('conflict', reason));
    open.clear();
  });
  const write = (message: object): void => void stdin.write(`${JSON.stringify(message)}\n`);

  const answer = async (id: string | number, method: string, params: unknown): Promise<void> => {
    const result = await hearer.question(method, params).catch(() => undefined);
    if (result) write({ id, result });
    else write({ id, error: { code: METHOD_NOT_FOUND, message: `Troupe does not answer ${method}` } });
  };

  const hear = (text: string): void => {
    const line = parseLine(text);
    if (line?.method !== undefined) {
      if (line.id === undefined) hearer.news(line.method, line.params);
      else void answer(line.id, line.method, line.params);
    } else if (typeof line?.id === 'number') {
      const waiting = open.get(line.id);
      open.delete(line.id);
      if (line.error) waiting?.reject(new TeamError('conflict', line.error.message));
      else waiting?.resolve(line.result);
    }
  };

  void readLines(stdout, hear, { maxBytes: LINE_LIMIT, onLong: () => {} });

  return {
    request(method, params) {
      if (lost !== undefined) return Promise.reject(new TeamError('conflict', lost));
      const id = ++lastId;
      const waiting = Promise.withResolvers<unknown>();
      open.set(id, waiting);
      write({ id, method, params });
      return waiting.promise;
    },
    notify: (method) => write({ method }),
  };
}

function parseLine(text: string): z.output<typeof Line> | undefined {
  try {
    return Line.parse(JSON.parse(text));
  } catch {
    // Not for us: some builds print notes among the messages.
    return undefined;
  }
}
