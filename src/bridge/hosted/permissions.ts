import type { AgentEvent } from '../../agents/agent.ts';
import type { Protocol } from '../protocol.ts';

type Request = Extract<Protocol, { type: 'permission_request' }>;

/** Claude Code's permission requests, and their answers. */
export interface NativePermissions {
  ask(request: Request): void;
  /** A listener is there again: asks the requests that waited. */
  resume(): void;
  /** Denies all open requests. */
  deny(why: string): void;
}

/** How long a request between two turns waits for the next turn; then it is denied. */
const PATIENCE_MS = 30_000;

/**
 * Passes on permission requests. In `full` every answer is yes, given here. The answer has the form of the oldest
 * version, which all versions accept: it carries the input that may run, and they run that.
 */
export function askPermissions(options: {
  readonly isFull: () => boolean;
  /** The current listener. */
  readonly tell: () => ((event: AgentEvent) => void) | undefined;
  readonly answer: (protocol: { type: 'permission_response' } & Readonly<Record<string, unknown>>) => Promise<unknown>;
}): NativePermissions {
  const open = new Map<string, (verdict: { allow: boolean; message?: string }) => void>();
  let waiting: Request[] = [];

  const answerOf = (request: Request, verdict: { allow: boolean; message?: string }) =>
    verdict.allow
      ? { subtype: 'success', response: { updated_input: request.input ?? {}, permission_updates: [] } }
      : { subtype: 'error', error: verdict.message ?? 'It was not allowed.' };

  const put = (request: Request): void => {
    const { request_id: id, tool_name: tool, input, description = '' } = request;
    const answer = (verdict: { allow: boolean; message?: string }): void => {
      if (!open.delete(id)) return;
      const said = { type: 'permission_response', request_id: id, ...answerOf(request, verdict) } as const;
      // If the answer cannot be written, the program waits, and its turn can still be cancelled.
      options.answer(said).catch(() => {});
    };
    open.set(id, answer);
    if (options.isFull()) return answer({ allow: true });
    const tell = options.tell();
    if (tell) return tell({ type: 'permission', id, tool, description: description || tool, input, answer });
    waiting.push(request);
    setTimeout(() => {
      if (waiting.includes(request)) answer({ allow: false, message: 'Nobody can be asked between two turns.' });
      waiting = waiting.filter((one) => one !== request);
    }, PATIENCE_MS).unref();
  };

  return {
    ask: put,
    resume() {
      const asked = waiting;
      waiting = [];
      for (const request of asked) put(request);
    },
    deny(why) {
      for (const answer of open.values()) answer({ allow: false, message: why });
    },
  };
}
