import type { Mode } from '../../agents/agent.ts';

/**
 * Claude Code's permission mode for one of ours. In `full` we answer every request with yes: Claude Code refuses its
 * own bypass mode to root.
 */
export function permissionMode(mode: Mode): string {
  return mode === 'plan' || mode === 'delegate' ? 'plan' : 'acceptEdits';
}

/** A teammate and its conversation. */
export interface TeammateArguments {
  readonly member: string;
  readonly team: string;
  readonly color: string;
  readonly leadSessionId: string;
  readonly sessionId: string;
  readonly resumes: boolean;
  readonly mode: Mode;
  readonly model: string | undefined;
}

/**
 * Claude Code's arguments as a teammate. We leave out the key by which the newest version checks its lead's messages:
 * we don't know what it signs. Without the key it accepts every message in the lead's name, as all other versions do.
 */
export function teammateArguments(given: TeammateArguments): string[] {
  const { member, team, color, leadSessionId, sessionId, resumes, mode, model } = given;
  return [
    '--agent-id',
    `${member}@${team}`,
    '--agent-name',
    member,
    '--team-name',
    team,
    '--agent-color',
    color,
    '--parent-session-id',
    leadSessionId,
    '--agent-type',
    'general-purpose',
    resumes ? '--resume' : '--session-id',
    sessionId,
    ...(mode === 'plan' ? ['--plan-mode-required'] : ['--permission-mode', permissionMode(mode)]),
    ...(model === undefined ? [] : ['--model', model]),
  ];
}

/** Turns on teams and task tools; turns off updates under a running team and files by `@name`. */
export const TEAMMATE_ENVIRONMENT = {
  CLAUDECODE: '1',
  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1',
  DISABLE_AUTOUPDATER: '1',
} as const;
