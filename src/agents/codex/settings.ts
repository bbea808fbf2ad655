import type { Mode, StartOptions, TeamTools } from '../agent.ts';

/** One of our modes in Codex's terms. */
interface CodexMode {
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly approvalPolicy: 'on-request' | 'never';
  /** Every request is denied, so that only the sandbox decides. */
  readonly denies: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * The sandbox limits what the model runs, not what the user's MCP servers do: in `plan` and `delegate` those are off.
 * Without a shell, patches and subagents, a delegating model has only the team's tools.
 */
export const MODES: Readonly<Record<Mode, CodexMode>> = {
  plan: { sandbox: 'read-only', approvalPolicy: 'on-request', denies: true, config: {} },
  delegate: {
    sandbox: 'read-only',
    approvalPolicy: 'on-request',
    denies: true,
    config: {
      features: { shell_tool: false, unified_exec: false, multi_agent: false },
      include_apply_patch_tool: false,
      web_search: 'disabled',
    },
  },
  edit: { sandbox: 'workspace-write', approvalPolicy: 'on-request', denies: false, config: {} },
  full: { sandbox: 'danger-full-access', approvalPolicy: 'never', denies: false, config: {} },
};

/** The settings of a new or resumed thread. All go over standard input: others can read arguments. */
export function threadSettings(start: StartOptions, otherServers: readonly string[]): object {
  const { sandbox, approvalPolicy, denies, config } = MODES[start.mode];
  const off = denies ? Object.fromEntries(otherServers.map((name) => [name, { enabled: false }])) : {};
  const team = start.tools ? { [start.tools.name]: serverSettings(start.tools) } : {};
  return {
    cwd: start.cwd,
    sandbox,
    approvalPolicy,
    // Some setups let a model answer; here people and their rules do.
    approvalsReviewer: 'user',
    developerInstructions: start.role,
    ...(start.model !== undefined && { model: start.model }),
    config: { ...config, mcp_servers: { ...off, ...team } },
  };
}

/** The team's own tools are never asked about: the member's credential decides what it may do there. */
function serverSettings({ http, stdio }: TeamTools): object {
  const approved = { enabled: true, default_tools_approval_mode: 'approve' };
  if (http) return { url: http.url, http_headers: http.headers, ...approved };
  return { command: stdio.command, args: stdio.args, env: stdio.env, ...approved };
}
