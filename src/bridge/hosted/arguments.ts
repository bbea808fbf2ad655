import type { Mode, StartOptions, TeamTools } from '../../agents/agent.ts';
import { OTHER_TEAMS, teamToolArguments } from '../../agents/claude/team-tools.ts';

/**
 * Claude Code's permission mode for one of ours. In `full` we answer every request with yes: Claude Code refuses its
 * own bypass mode to root.
 */
export function permissionMode(mode: Mode): string {
  // It asks before every change, and we refuse. In its plan mode it could not use our team's tools.
  if (mode === 'delegate') return 'default';
  return mode === 'plan' ? 'plan' : 'acceptEdits';
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
  readonly effort?: StartOptions['effort'];
  readonly ownTools?: StartOptions['ownTools'];
  /** A lead has our team's tools; for teammates, those of Claude Code's own teams are enough. */
  readonly tools?: { readonly team: TeamTools; readonly file: string } | undefined;
}

/**
 * Claude Code's arguments as a teammate. We leave out the key by which the newest version checks its lead's messages:
 * we don't know what it signs. Without the key it accepts every message in the lead's name, as all other versions do.
 */
export function teammateArguments(given: TeammateArguments): string[] {
  const { member, team, color, leadSessionId, sessionId, resumes, mode, model, effort, tools } = given;
  const { allow, deny = [] } = given.ownTools ?? {};
  const unfit = [...(tools ? OTHER_TEAMS : []), ...deny];
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
    ...(effort === undefined ? [] : ['--effort', effort]),
    // Those of its own teams are how it hears of its tasks.
    ...(allow ? [`--tools=${[...allow, ...OTHER_TEAMS].join(',')}`] : []),
    ...(unfit.length > 0 ? [`--disallowedTools=${unfit.join(',')}`] : []),
    ...(tools ? teamToolArguments(tools.team, tools.file) : []),
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

/** A lead has its team's tools in every request. In a terminal it would otherwise have to search for each one first. */
export const LEAD_ENVIRONMENT = { ENABLE_TOOL_SEARCH: 'false' } as const;
