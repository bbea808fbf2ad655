import type { Mode } from '../../agents/agent.ts';

/** The rights that a mode is to the program. In `full` we say yes to whatever it asks: its own way is refused to root. */
export function permissionMode(mode: Mode): string {
  return mode === 'plan' || mode === 'delegate' ? 'plan' : 'acceptEdits';
}

/** Who a teammate is, and with which conversation. */
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
 * What the program is started with as a teammate. The key by which the newest version would check its lead's messages is left out:
 * what it signs is not known, and without the key it takes every message in the lead's name for the lead's, as all others do.
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

/** What it needs in its environment besides: its teams, its tools for tasks, no other version under a running team, no files by `@name`. */
export const TEAMMATE_ENVIRONMENT = {
  CLAUDECODE: '1',
  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1',
  DISABLE_AUTOUPDATER: '1',
} as const;
