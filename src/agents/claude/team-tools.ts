import type { McpServer } from '../../core/agent.ts';
import type { StartOptions, TeamTools } from '../agent.ts';
import { ownServers } from '../extras.ts';

/** Its tools for its own teams; beside our team's tools, a model would pick the wrong ones. */
export const OTHER_TEAMS = [
  'SendMessage',
  'ListAgents',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TeamCreate',
  'TeamDelete',
];

/** The arguments that give Claude Code our team's tools, which it may use without asking. */
export function teamToolArguments(tools: StartOptions['tools'], file: string | undefined): string[] {
  return [
    ...(file === undefined ? [] : [`--mcp-config=${file}`]),
    ...(tools === undefined ? [] : [`--allowedTools=mcp__${tools.name}`]),
  ];
}

/**
 * The servers of a member in Claude Code's format: the team's, and its own. Without `alwaysLoad` a model would have to
 * search for the tools first.
 */
export function toolsConfig(start: Pick<StartOptions, 'tools' | 'mode' | 'servers'>): object | undefined {
  const own = Object.fromEntries(ownServers(start).map(([name, server]) => [name, configOf(server)]));
  const mcpServers = { ...own, ...(start.tools && teamConfig(start.tools)) };
  return Object.keys(mcpServers).length > 0 ? { mcpServers } : undefined;
}

function teamConfig({ name, http, stdio }: TeamTools): object {
  const server = http ? { type: 'http', url: http.url, headers: http.headers } : { type: 'stdio', ...stdio };
  return { [name]: { ...server, alwaysLoad: true } };
}

function configOf(server: McpServer): object {
  if ('url' in server) return { type: 'http', url: server.url, headers: server.headers ?? {}, alwaysLoad: true };
  const [command, ...args] = server.command;
  return { type: 'stdio', command, args, env: server.env ?? {}, alwaysLoad: true };
}
