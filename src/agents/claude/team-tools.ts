import type { StartOptions } from '../agent.ts';

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

/** The team's tools in Claude Code's format. Without `alwaysLoad` a model would have to search for them first. */
export function toolsConfig({ name, http, stdio }: NonNullable<StartOptions['tools']>): object {
  const server = http ? { type: 'http', url: http.url, headers: http.headers } : { type: 'stdio', ...stdio };
  return { mcpServers: { [name]: { ...server, alwaysLoad: true } } };
}
