import {
  deserializeMessage,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/server';
import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { TeamEvent } from '../core/event.ts';
import { isTooDeep } from '../core/json.ts';
import { parse } from '../core/parse.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import type { Caller } from '../operations/caller.ts';
import type { Services, TakePlace, TakeWait } from '../operations/operation.ts';
import { doubtHanded } from './handed.ts';
import { createTeamServer } from './server.ts';
import type { McpOptions } from './server.ts';
import { Greeting, openSession } from './session.ts';

/** A client's connection, which carries one JSON-RPC message per line. */
export interface Lines {
  /** Handles a line from the client. */
  receive(line: string): void;
  /** The client is gone: cancels everything it waits for. */
  close(): void;
}

/** Sends lines to a client. */
export interface Line {
  readonly send: (line: string) => void;
  readonly takePlace?: TakePlace;
  readonly takeWait?: TakeWait;
}

/** More calls than an agent needs. Further calls are refused, so a cancel request always gets through. */
const CALLS_AT_ONCE = 64;

/**
 * Serves the team tools over an authenticated connection. `greeting` is what the client says about itself. Throws a
 * `TeamError` if it is malformed, or asks for more than the credential allows.
 */
export function serveMcpLines(
  services: Services,
  { caller, greeting, send, takePlace, takeWait }: { caller: Caller; greeting: unknown } & Line,
  options: McpOptions = {},
): Lines {
  const session = openSession(caller, { teams: options.teams, ...parse(Greeting, greeting ?? {}) });
  const calls = new Set<unknown>();
  const transport: Transport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    send: async (message) => {
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) calls.delete(message.id);
      send(JSON.stringify(message));
    },
  };
  let mcp: McpServer | undefined;
  const handle = serveStdio(
    () =>
      (mcp = createTeamServer(services, session, {
        ...options,
        stays: true,
        ...(takePlace && { takePlace }),
        ...(takeWait && { takeWait }),
      })),
    { transport },
  );
  const stopListening = services.ledger.subscribe((team, { events }) => {
    if (team === session.team && events.some(changesTools)) mcp?.sendToolListChanged();
  });

  return {
    receive(line) {
      if (line.trim() === '') return;
      const message = readMessage(line);
      if (!message) return send(refusal(null, -32700, 'This line is not a JSON-RPC message'));
      if (isJSONRPCRequest(message)) {
        if (calls.size >= CALLS_AT_ONCE) return send(refusal(message.id, -32000, 'Too many calls are running'));
        if (calls.has(message.id)) return send(refusal(message.id, -32600, 'Another running call has this id'));
        calls.add(message.id);
      } else if ('method' in message && message.method === 'notifications/cancelled') {
        calls.delete(message.params?.['requestId']);
        doubtHanded(session, message.params?.['requestId']);
      }
      transport.onmessage?.(message);
    },
    close() {
      stopListening();
      void handle.close();
    },
  };
}

/** Reports a mistyped name when the client connects. Otherwise all calls of the agent would be refused later. */
export async function requireKnown({ ledger }: Services, caller: Caller, greeting: unknown): Promise<void> {
  const given = parse(Greeting, greeting ?? {});
  const { team, as } = openSession(caller, given);
  if (!given.known || team === undefined) return;
  await ledger.view(team, (state) => {
    requireTeam(state);
    if (as !== undefined) requireMember(state, as);
  });
}

/** A lead in delegate mode gets other tools, and so does a new lead; and a team that gets workspaces. */
function changesTools(event: TeamEvent): boolean {
  if (event.type !== 'team:updated') return false;
  const { delegateMode, leadId, work } = event;
  return delegateMode !== undefined || leadId !== undefined || work !== undefined;
}

function readMessage(line: string): JSONRPCMessage | undefined {
  if (isTooDeep(line)) return undefined;
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

function refusal(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}
