import { TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import type { Hub, OpenLines } from './hub.ts';
import type { Outbox } from './outbox.ts';
import { beginWaiting } from './share.ts';
import type { Share } from './share.ts';

/** The client that asked for MCP on its connection, and its request. */
interface Asking {
  readonly caller: Caller;
  readonly share: Share;
  readonly outbox: Outbox;
  readonly payload: unknown;
}

/** MCP on a connection. */
export type McpLines = Awaited<ReturnType<OpenLines>>;

/** Opens MCP for a client. Its tools share the client's limits. */
export function openMcpLines(hub: Hub, { caller, share, outbox, payload }: Asking): Promise<McpLines> {
  if (!hub.mcp) throw new TeamError('unsupported', 'This daemon serves no MCP');
  return hub.mcp(caller, payload, {
    send: (text) => outbox.send(text),
    /** Resolves when a tool may make a long answer. The tool keeps its place until the client has read the answer. */
    async takePlace() {
      const fetched = await hub.takeLongAnswer(share);
      return { sent: () => outbox.whenRead(fetched), over: fetched };
    },
    takeWait: () => beginWaiting(share),
  });
}
