import type { McpServer } from '../../core/agent.ts';
import type { Mode, StartOptions, TeamTools } from '../agent.ts';
import { ownServers, toolsWithout } from '../extras.ts';
import { CODEX_TOOLS, withoutTools } from './tools.ts';

/** One of our modes in Codex's terms. */
interface CodexMode {
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly approvalPolicy: 'on-request' | 'never';
  /** Every request is denied, so that only the sandbox decides. */
  readonly denies: boolean;
  /** Its model does not have these tools. */
  readonly without: readonly string[];
}

/**
 * The sandbox limits what the model runs, not what the user's MCP servers do: in `plan` and `delegate` those are off.
 * Without a shell, patches and subagents, a delegating model has only the team's tools.
 */
export const MODES: Readonly<Record<Mode, CodexMode>> = {
  plan: { sandbox: 'read-only', approvalPolicy: 'on-request', denies: true, without: [] },
  delegate: {
    sandbox: 'read-only',
    approvalPolicy: 'on-request',
    denies: true,
    without: CODEX_TOOLS,
  },
  edit: { sandbox: 'workspace-write', approvalPolicy: 'on-request', denies: false, without: [] },
  full: { sandbox: 'danger-full-access', approvalPolicy: 'never', denies: false, without: [] },
};

/** The settings of a new or resumed thread. All go over standard input: others can read arguments. */
export function threadSettings(start: StartOptions, otherServers: readonly string[]): object {
  const { sandbox, approvalPolicy, denies, without } = MODES[start.mode];
  const off = denies ? Object.fromEntries(otherServers.map((name) => [name, { enabled: false }])) : {};
  const own = Object.fromEntries(ownServers(start).map(([name, server]) => [name, ownServerSettings(server)]));
  const team = start.tools ? { [start.tools.name]: serverSettings(start.tools) } : {};
  return {
    cwd: start.cwd,
    sandbox,
    approvalPolicy,
    // Some setups let a model answer; here people and their rules do.
    approvalsReviewer: 'user',
    developerInstructions: start.role,
    ...(start.model !== undefined && { model: start.model }),
    config: {
      ...withoutTools([...without, ...toolsWithout(CODEX_TOOLS, start.ownTools)]),
      ...(start.effort !== undefined && { model_reasoning_effort: start.effort }),
      mcp_servers: { ...off, ...own, ...team },
    },
  };
}

function ownServerSettings(server: McpServer): object {
  if ('url' in server) return { url: server.url, http_headers: server.headers ?? {}, enabled: true };
  const [command, ...args] = server.command;
  return { command, args, env: server.env ?? {}, enabled: true };
}

/** The team's own tools are never asked about: the member's credential decides what it may do there. */
function serverSettings({ http, stdio }: TeamTools): object {
  const approved = { enabled: true, default_tools_approval_mode: 'approve' };
  if (http) return { url: http.url, http_headers: http.headers, ...approved };
  return { command: stdio.command, args: stdio.args, env: stdio.env, ...approved };
}
