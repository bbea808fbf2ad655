import { z } from 'zod';
import { within } from '../live-program.ts';
import type { LiveProgram } from '../live-program.ts';
import { readLines } from '../read-lines.ts';
import { parseLine } from './lines.ts';
import type { ControlRequest, Said } from './lines.ts';

/** Its messages other than answers to our requests. */
export type Heard = Exclude<Said, { type: 'control_response' } | { type: 'control_request' }>;

/** The listeners of a connection. */
export interface Hearers {
  heard(said: Heard): void;
  /** It asks us something; resolves with the answer, or undefined if none is wanted any more. */
  asked(request: ControlRequest): Promise<object | undefined>;
}

/** Lines of JSON, and requests with answers, in both directions. */
export interface Connection {
  send(line: object): void;
  /** Sends a request. Rejects if it is refused or the program is gone. */
  request(request: { readonly subtype: string; readonly [key: string]: unknown }): Promise<unknown>;
  /** Resolves with the reason when the program is gone and all its output was read. */
  readonly gone: Promise<string>;
}

/** How long output is read after the program is gone: its descendants may hold the pipe forever. */
const DRAIN_MS = 1_000;

/** Starts listening to a running Claude Code. */
export function connect(program: LiveProgram, hearers: Hearers): Connection {
  const waiting = new Map<string, PromiseWithResolvers<unknown>>();
  let isOver = false;
  const send = (line: object): void => {
    if (program.stdin.writable) program.stdin.write(`${JSON.stringify(line)}\n`);
  };

  const answer = async (request: ControlRequest): Promise<void> => {
    const id = { request_id: request.request_id };
    try {
      const response = await hearers.asked(request);
      if (response) send({ type: 'control_response', response: { subtype: 'success', ...id, response } });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      send({ type: 'control_response', response: { subtype: 'error', ...id, error: reason } });
    }
  };

  const read = readLines(program.stdout, (line) => {
    const said = isOver ? undefined : parseLine(line);
    if (said?.type === 'control_request') void answer(said);
    else if (said?.type === 'control_response') {
      // Our own answers come back as an echo; nobody waits for those.
      const { request_id: id, subtype, response, error } = said.response;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (subtype === 'success') asked?.resolve(response);
      else asked?.reject(new Error(error ?? `Claude Code answered ${subtype}`));
    } else if (said) hearers.heard(said);
  });

  const gone = program.gone.then(async (reason) => {
    await within(read, DRAIN_MS);
    isOver = true;
    program.stdout.pause();
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
    return reason;
  });

  return {
    send,
    gone,
    request(request) {
      const id = crypto.randomUUID();
      const asked = Promise.withResolvers<unknown>();
      waiting.set(id, asked);
      send({ type: 'control_request', request_id: id, request });
      return asked.promise;
    },
  };
}

/** Takes a queued text back; returns whether that was in time. */
export async function takeBack(connection: Connection, uuid: string): Promise<boolean> {
  const answer = await connection.request({ subtype: 'cancel_async_message', message_uuid: uuid });
  return z.object({ cancelled: z.literal(true) }).safeParse(answer).success;
}
