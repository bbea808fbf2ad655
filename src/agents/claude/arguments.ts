import type { Mode, StartOptions } from '../agent.ts';
import { OTHER_TEAMS, teamToolArguments } from './team-tools.ts';

/**
 * Each mode in Claude Code's terms. `plan` and `delegate` list all available tools, so that the user's settings cannot
 * add any. Its own plan mode is not used, because that wants the plan in a file. In `full` we answer its questions
 * ourselves.
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

/** Tools that would ask an absent person, leave the folder, or start turns that nobody requested. */
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

/** What a session needs at its start, besides the options. */
export interface Session {
  readonly id: string;
  readonly resumes: boolean;
  /** Private files: its role, and how it reaches its team with which credential. */
  readonly roleFile: string;
  readonly toolsFile?: string | undefined;
}

/**
 * The arguments of Claude Code for a session, without secrets. Each is one word, so that none takes the next as its
 * value.
 */
export function claudeArguments(
  start: Pick<StartOptions, 'mode' | 'model' | 'tools' | 'effort' | 'ownTools'>,
  session: Session,
): string[] {
  const { permissionMode, tools: fixed } = MODES[start.mode];
  const { allow, deny = [] } = start.ownTools ?? {};
  const tools = fixed && allow ? fixed.filter((tool) => allow.includes(tool)) : (fixed ?? allow);
  const unfit = [...UNFIT, ...(start.tools ? OTHER_TEAMS : []), ...deny];
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
    ...(start.effort === undefined ? [] : [`--effort=${start.effort}`]),
    ...(tools === undefined ? [] : [`--tools=${tools.join(',')}`]),
    ...(fixed === undefined ? [] : ['--strict-mcp-config']),
    `--disallowedTools=${unfit.join(',')}`,
    ...teamToolArguments(start.tools, session.toolsFile),
  ];
}
