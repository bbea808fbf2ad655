import type { AgentEvent, Mode } from '../agent.ts';
import { CanUseTool } from './lines.ts';
import type { ControlRequest } from './lines.ts';

/** Claude Code's open questions whether it may use a tool. */
export interface Permissions {
  /** Resolves with the answer to send, or undefined if the question was withdrawn. */
  ask(request: ControlRequest): Promise<object | undefined>;
  /** The question was withdrawn. */
  withdraw(requestId: string): void;
}

/** The mode of the session, and the listener. */
export interface PermissionOptions {
  readonly mode: Mode;
  /** The prefix of the names of the team's tools. */
  readonly teamPrefix: string | undefined;
  readonly tell: (event: AgentEvent) => void;
  /** Whether anyone listens to a question now. */
  readonly isHeard: () => boolean;
}

/**
 * Passes its questions on. In `full` every answer is yes, given here. Claude Code refuses its own bypass mode to root,
 * and that mode would also ignore the user's deny settings. The team's own tools are never asked about.
 */
export function newPermissions(options: PermissionOptions): Permissions {
  const { mode, teamPrefix, tell, isHeard } = options;
  const open = new Map<string, (answer: object | undefined) => void>();
  return {
    async ask({ request_id: id, request }) {
      const asked = CanUseTool.safeParse(request).data;
      if (!asked) throw new Error(`Troupe does not answer ${request.subtype}`);
      const { tool_name: tool, input } = asked;
      const yes = { behavior: 'allow', updatedInput: input };
      if (mode === 'full' || (teamPrefix !== undefined && tool.startsWith(teamPrefix))) return yes;
      if (!isHeard()) return { behavior: 'deny', message: 'Nobody can be asked between two turns.' };
      const { promise, resolve } = Promise.withResolvers<object | undefined>();
      open.set(id, resolve);
      tell({
        type: 'permission',
        id,
        tool,
        description: asked.title ?? asked.description ?? asked.decision_reason ?? tool,
        input,
        answer: ({ allow, message }) => {
          open.delete(id);
          resolve(allow ? yes : { behavior: 'deny', message: message ?? 'It was not allowed.' });
        },
      });
      return promise;
    },
    withdraw(id) {
      open.get(id)?.(undefined);
      open.delete(id);
    },
  };
}
