import { join } from 'node:path';
import type { Agent } from './agents/agent.ts';
import { execAgent } from './agents/exec.ts';
import { Client } from './client/client.ts';
import type { Home } from './client/home.ts';
import { socketConnect } from './client/socket.ts';
import type { AgentSpec } from './core/agent.ts';
import { TeamError } from './core/errors.ts';
import type { Door } from './host/door.ts';
import { codeOf } from './host/door.ts';
import { agentEnvironment } from './host/environment.ts';
import { runTeammate } from './host/teammate.ts';

/** Which member, where its daemon is, and with which credential. */
export interface TeammateProcessOptions {
  readonly teamId: string;
  readonly memberId: string;
  readonly home: Home;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts to end it. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** A daemon may be away for long, being upgraded say; a turn that was paid for goes on meanwhile. */
const PATIENCE_MS = 24 * 60 * 60_000;

/** The exit code of a process that SIGTERM ended, by custom. */
const TERMINATED = 143;

/**
 * One teammate as a process of its own: it holds the agent and reaches the team over the socket, so that the daemon can go
 * and come back without ending a turn. Resolves with the exit code.
 */
export async function runTeammateProcess(options: TeammateProcessOptions): Promise<number> {
  const { teamId, memberId, home, environment, signal, onError } = options;
  const tokenFile = environment['TROUPE_TOKEN_FILE'] ?? home.tokenFile;
  const client = new Client(socketConnect({ path: home.socket, token: { file: tokenFile } }), {
    patience: PATIENCE_MS,
  });
  try {
    const member = await client.call('member.show', { teamId, memberId });
    if (!member.agent) throw new TeamError('invalid', `Member ${memberId} of team ${teamId} has no agent to run`);
    const cwd = member.cwd ?? process.cwd();
    const door = doorTo(client, teamId);
    const ending = await runTeammate({
      door,
      agent: agentFor(member.agent),
      signal,
      onError,
      transcriptPath: (sessionId) => join(home.transcripts, teamId, memberId, `${sessionId}.jsonl`),
      start: {
        teamId,
        memberId,
        cwd,
        role: roleText(member.role, member.spawnPrompt),
        model: member.model,
        mode: member.planModeRequired ? 'plan' : (member.agent.mode ?? 'edit'),
        resume: member.sessionId === 'none' ? undefined : member.sessionId,
        env: agentEnvironment(environment, {
          ...(member.agent.env && { added: member.agent.env }),
          team: {
            TROUPE_HOME: home.directory,
            TROUPE_TEAM_ID: teamId,
            TROUPE_MEMBER_NAME: memberId,
            TROUPE_TOKEN_FILE: tokenFile,
            CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
            ...(environment['TROUPE_PROCESS'] && { TROUPE_PROCESS: environment['TROUPE_PROCESS'] }),
          },
        }),
      },
    });
    if (ending === 'crashed') return 1;
    // Whether a signal was a stop or an accident, only the one who sent it knows: the supervisor says so in our place.
    if (ending === 'stopped') return TERMINATED;
    // It agreed to stop: what it holds goes back with it.
    if (ending === 'shutdown') await leave(client, teamId, memberId, ending);
    return 0;
  } finally {
    client.close();
  }
}

function agentFor(spec: AgentSpec): Agent {
  const [program, ...rest] = [...(spec.command ?? []), ...(spec.args ?? [])];
  if (spec.kind === 'exec' && program !== undefined) {
    return execAgent({ command: [program, ...rest], ...(spec.messages !== undefined && { mail: spec.messages }) });
  }
  throw new TeamError('unsupported', `This Troupe cannot run agents of kind ${spec.kind}`);
}

function roleText(role: string, prompt: string | undefined): string {
  return prompt ? `${role}\n\n${prompt}` : role;
}

async function leave(client: Client, teamId: string, memberId: string, ending: string): Promise<void> {
  try {
    await client.call('member.remove', { teamId, memberId, reason: ending });
  } catch (error) {
    // Somebody else recorded it first.
    if (codeOf(error) !== 'member_stopped' && codeOf(error) !== 'team_closed') throw error;
  }
}

function doorTo(client: Client, teamId: string): Door {
  return {
    call: (name, input) => client.call(name, input),
    async *changes(signal) {
      const { seq } = await client.call('team.status', { teamId });
      yield* client.subscribe(teamId, { after: seq, signal });
    },
  };
}
