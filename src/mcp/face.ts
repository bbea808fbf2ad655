import type { Caller } from '../operations/caller.ts';
import type { Services } from '../operations/operation.ts';
import type { McpHttp } from './http.ts';
import type { Line, Lines } from './lines.ts';
import type { McpOptions } from './server.ts';
import type { SessionLimits } from './sessions.ts';

/** The team tools for agents, over HTTP and over connections that carry lines. */
export interface McpFace {
  readonly http: McpHttp['handle'];
  readonly lines: (caller: Caller, greeting: unknown, line: Line) => Promise<Lines>;
  close(): Promise<void>;
}

/** Opens the face. The MCP library is loaded for the first client, because it takes 100 ms and 10 MB. */
export function mcpFace(services: Services, options: McpOptions & SessionLimits = {}): McpFace {
  let http: Promise<McpHttp> | undefined;
  return {
    async http(request, visitor) {
      http ??= import('./http.ts').then(({ mcpHttp }) => mcpHttp(services, options));
      return (await http).handle(request, visitor);
    },
    async lines(caller, greeting, line) {
      const { requireKnown, serveMcpLines } = await import('./lines.ts');
      await requireKnown(services, caller, greeting);
      return serveMcpLines(services, { caller, greeting, ...line }, options);
    },
    async close() {
      await (await http)?.close();
    },
  };
}
