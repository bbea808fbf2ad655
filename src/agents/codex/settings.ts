import type { Mode, StartOptions, TeamTools } from '../agent.ts';

/** What a mode of ours is in Codex's own terms. */
interface CodexMode {
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly approvalPolicy: 'on-request' | 'never';
  /** Nothing that it asks for is granted, so that the sandbox is the whole truth. */
  readonly denies: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * The sandbox holds what the model runs, not what servers of the user's do: while planning and delegating those are off.
 * Without a shell, patches and helpers of its own a model that delegates has the team's tools and nothing else.
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

/** What a thread is started or resumed with. All of it goes over standard input: arguments can be read by others. */
export function threadSettings(start: StartOptions, otherServers: readonly string[]): object {
  const { sandbox, approvalPolicy, denies, config } = MODES[start.mode];
  const off = denies ? Object.fromEntries(otherServers.map((name) => [name, { enabled: false }])) : {};
  const team = start.tools ? { [start.tools.name]: serverSettings(start.tools) } : {};
  return {
    cwd: start.cwd,
    sandbox,
    approvalPolicy,
    // Some set-ups let a model of theirs answer; here people and their rules do.
    approvalsReviewer: 'user',
    developerInstructions: start.role,
    ...(start.model !== undefined && { model: start.model }),
    config: { ...config, mcp_servers: { ...off, ...team } },
  };
}

/** The team's own tools are never asked about: what a member may do there is decided by its credential. */
function serverSettings({ http, stdio }: TeamTools): object {
  const approved = { enabled: true, default_tools_approval_mode: 'approve' };
  if (http) return { url: http.url, http_headers: http.headers, ...approved };
  return { command: stdio.command, args: stdio.args, env: stdio.env, ...approved };
}
