import type { AgentSpec, McpServer } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { fillIn, PYTHON, RUNS_CODE, secretsOf } from '../core/variables.ts';

/** What programs need to run at all. */
export const BASE = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'TZ',
  'TERM',
  'TMPDIR',
  'SHELL',
  'COLORTERM',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'SSH_AUTH_SOCK',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  ...PYTHON,
];

/**
 * The environment of an agent: the base, its provider's variables, and those of the team file, where `${NAME}` is taken
 * from our environment. Other providers' keys and our own tokens are not passed on.
 */
export function agentEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  options: {
    provider?: readonly string[];
    added?: Readonly<Record<string, string>>;
    team: Readonly<Record<string, string>>;
    /** A folder of programs that are found after all others. */
    programs?: string;
  },
): Record<string, string> {
  const env: Record<string, string> = {};
  const wanted = new Set([...BASE, ...(options.provider ?? [])]);
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && (wanted.has(name) || name.startsWith('LC_'))) env[name] = value;
  }
  for (const [name, value] of Object.entries(options.added ?? {})) {
    if (RUNS_CODE.test(name)) {
      throw new TeamError('invalid', `env.${name} of a member is refused: it would run code in every program`);
    }
    env[name] = fillIn(value, (source) => ours[source]);
  }
  // Without a PATH, programs are found in the places that the system knows.
  if (options.programs !== undefined && env['PATH']) env['PATH'] = `${env['PATH']}:${options.programs}`;
  return { ...env, ...options.team };
}

/** The servers of a member's own, with what they take from our environment. */
export function serversOf(
  { mcp = {} }: Pick<AgentSpec, 'mcp'>,
  ours: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, McpServer>> {
  const filled = (server: McpServer): McpServer => {
    const values = Object.fromEntries(
      Object.entries(secretsOf(server)).map(([name, value]) => [name, fillIn(value, (source) => ours[source])]),
    );
    return 'url' in server ? { ...server, headers: values } : { ...server, env: values };
  };
  return Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, filled(server)]));
}
