import type { Mode, StartOptions } from '../agent.ts';

/**
 * What each mode is to Claude Code. `plan` and `delegate` name the tools that there are at all, so that nothing in the
 * user's settings can widen them; its own plan mode is not used, because it wants a plan in a file of its own. In `full`
 * we answer its questions ourselves.
 */
const MODES: Readonly<Record<Mode, { permissionMode: string; tools?: readonly string[] }>> = {
  plan: {
    permissionMode: 'default',
    tools: ['Read', 'Glob', 'Grep', 'LS', 'LSP', 'NotebookRead', 'WebFetch', 'WebSearch'],
  },
  delegate: { permissionMode: 'default', tools: [] },
  edit: { permissionMode: 'acceptEdits' },
  full: { permissionMode: 'acceptEdits' },
};

/** Tools that would ask somebody who is not there, leave the folder, or begin turns that nobody asked for. */
const UNFIT = [
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'ScheduleWakeup',
  'CronCreate',
  'CronDelete',
  'CronList',
];

/** Tools of its own for its own teams; with the tools of ours beside them a model would take the wrong ones. */
const OTHER_TEAMS = [
  'SendMessage',
  'ListAgents',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TeamCreate',
  'TeamDelete',
];

/** What a session is started with, beyond its options. */
export interface Session {
  readonly id: string;
  readonly resumes: boolean;
  /** Files for its eyes alone: who it is, and how it reaches its team with which credential. */
  readonly roleFile: string;
  readonly toolsFile?: string | undefined;
}

/** The arguments of Claude Code for a session; nothing secret is in them. Each is one word, so that none swallows the next. */
export function claudeArguments(start: Pick<StartOptions, 'mode' | 'model' | 'tools'>, session: Session): string[] {
  const { permissionMode, tools } = MODES[start.mode];
  const unfit = [...UNFIT, ...(start.tools ? OTHER_TEAMS : [])];
  return [
    '--print',
    '--verbose',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--replay-user-messages',
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    `--permission-mode=${permissionMode}`,
    `--${session.resumes ? 'resume' : 'session-id'}=${session.id}`,
    `--append-system-prompt-file=${session.roleFile}`,
    ...(start.model === undefined ? [] : [`--model=${start.model}`]),
    ...(tools === undefined ? [] : [`--tools=${tools.join(',')}`, '--strict-mcp-config']),
    `--disallowedTools=${unfit.join(',')}`,
    ...(session.toolsFile === undefined ? [] : [`--mcp-config=${session.toolsFile}`]),
    ...(start.tools === undefined ? [] : [`--allowedTools=mcp__${start.tools.name}`]),
  ];
}

/** The team's tools in Claude Code's words. Without `alwaysLoad` a model would have to search for them first. */
export function toolsConfig({ name, http, stdio }: NonNullable<StartOptions['tools']>): object {
  const server = http ? { type: 'http', url: http.url, headers: http.headers } : { type: 'stdio', ...stdio };
  return { mcpServers: { [name]: { ...server, alwaysLoad: true } } };
}
