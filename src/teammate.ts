import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accountOf } from './agents/account.ts';
import type { Agent, TeamTools } from './agents/agent.ts';
import { findAgent, providerVariables } from './agents/catalog.ts';
import { execAgent } from './agents/exec.ts';
import { cpuTimeOf, findMarked, MARKER } from './agents/process.ts';
import { findUserHome } from './agents/user-home.ts';
import { findNativeRoot } from './bridge/layout.ts';
import { Client } from './client/client.ts';
import type { Home } from './client/home.ts';
import { socketConnect } from './client/socket.ts';
import { terminalSocket } from './client/terminal-socket.ts';
import { catalogNameOf } from './core/agent-kinds.ts';
import type { AgentKind, AgentSpec } from './core/agent.ts';
import { TeamError } from './core/errors.ts';
import { folderOfMember } from './core/folder.ts';
import { onLimitOf } from './core/limit-policy.ts';
import { SHUTDOWN } from './core/member-marks.ts';
import { pulseEvery } from './core/silence.ts';
import { streamOf } from './core/view.ts';
import type { ResultOf } from './operations/index.ts';
import { readCard } from './runtime/card.ts';
import { readLeaseFile } from './runtime/hosts/lease-file.ts';
import { pulseFile } from './runtime/pulse-file.ts';
import { watchAbsence } from './teammate/absence.ts';
import type { Door } from './teammate/door.ts';
import { codeOf } from './teammate/door.ts';
import { agentEnvironment, serversOf } from './teammate/environment.ts';
import { openMemberSandbox } from './teammate/member-sandbox.ts';
import { openWork } from './teammate/open-work.ts';
import { patientDoor } from './teammate/patience.ts';
import { startPulse } from './teammate/pulse.ts';
import { handoverOf, startOf } from './teammate/start.ts';
import { teamAgent } from './teammate/team-agent.ts';
import type { Ending } from './teammate/teammate-steps.ts';
import { runTeammate } from './teammate/teammate.ts';
import { openTmuxScreen } from './terminals/tmux-screen.ts';

/** The member, its daemon's state directory and its environment. */
export interface TeammateProcessOptions {
  readonly teamId: string;
  readonly memberId: string;
  readonly home: Home;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts to stop it. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** A daemon may be away for a long time, for example during an upgrade; a turn that was paid for goes on meanwhile. */
const PATIENCE_MS = 24 * 60 * 60_000;

/** If the process is told to stop while its daemon is away, it waits this long for the daemon to return. */
const LAST_WORDS_MS = 2_000;

/** The usual exit code of a process that SIGTERM ended. */
const TERMINATED = 143;

/**
 * Runs one teammate as a separate process. It holds the agent and reaches the team over the socket, so that the daemon
 * can restart without ending a turn. Resolves with the exit code.
 */
export async function runTeammateProcess(options: TeammateProcessOptions): Promise<number> {
  const { teamId, memberId, home, environment, onError } = options;
  const tokenFile = environment['TROUPE_TOKEN_FILE'] ?? home.tokenFile;
  let isReached = false;
  let leaving: NodeJS.Timeout | undefined;
  let pulse: ReturnType<typeof startPulse> | undefined;
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  const absence = watchAbsence({
    leaseMs: () => readLeaseFile(home.lease),
    onOver(awayMs) {
      onError(takenOver(memberId, awayMs));
      lost.abort();
    },
  });
  absence.tell(false);
  const client = new Client(socketConnect({ path: home.socket, token: { file: tokenFile } }), {
    patience: PATIENCE_MS,
    onState(state) {
      isReached = state === 'open';
      absence.tell(isReached);
    },
  });
  // Otherwise it would ignore the signal and wait for a daemon that may never return.
  const hangUp = (): void => {
    leaving = setInterval(() => {
      if (!isReached) client.close();
    }, LAST_WORDS_MS);
  };
  signal.addEventListener('abort', hangUp, { once: true });
  try {
    const door = doorTo(client, teamId);
    const patient = patientDoor(door, { signal, onError });
    const first = await patient.call('member.show', { teamId, memberId });
    if (!first.agent) throw new TeamError('invalid', `Member ${memberId} of team ${teamId} has no agent to run`);
    if (environment[MARKER]) {
      pulse = startPulse(pulseFile(home.processes, environment[MARKER]), pulseEvery(first.agent.silence));
    }
    // The daemon starts this process in the team's folder, if nobody named another.
    const team = await patient.call('team.show', { teamId });
    const work =
      first.workspace === 'own' ? await openWork(door, { teamId, memberId }, { signal, onError }) : undefined;
    const cwd = folderOfMember(first, process.cwd(), work?.folder) ?? process.cwd();
    const leads = team.leadId === memberId;
    const envOf = (spec: AgentSpec): ReturnType<typeof agentEnvironment> =>
      agentEnvironment(environment, {
        provider: providerOf(spec, environment),
        ...(spec.env && { added: spec.env }),
        programs: home.launcher,
        team: {
          TROUPE_HOME: home.directory,
          TROUPE_TEAM_ID: teamId,
          TROUPE_MEMBER_NAME: memberId,
          TROUPE_TOKEN_FILE: tokenFile,
          CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
          ...(work && { TROUPE_SLOT: String(work.slot) }),
          ...(environment['TROUPE_PROCESS'] && { TROUPE_PROCESS: environment['TROUPE_PROCESS'] }),
        },
      });
    const accountFor = (spec: AgentSpec): string | undefined =>
      accountOf(spec, { memberId, env: envOf(spec), home: findUserHome(environment), machine: first.hostId });
    const live = async (member: typeof first, spec: AgentSpec, before: string | undefined): Promise<Ending> => {
      const daemon = {
        socket: home.socket,
        token: () => readFileSync(tokenFile, 'utf8').trim(),
        url: () => readCard(home.card)?.url ?? undefined,
      };
      const box = await openMemberSandbox(spec, { state: home.directory, env: envOf(spec), daemon });
      const seen = box ? { directory: box.home, tokenFile: join(box.home, 'token') } : { ...home, tokenFile };
      const toolsNow = (): TeamTools => {
        box?.refresh();
        return toolsFor(home, tokenFile, seen);
      };
      const env = { ...envOf(spec), TROUPE_HOME: seen.directory, TROUPE_TOKEN_FILE: seen.tokenFile };
      try {
        return await runTeammate({
          door,
          agent: await agentFor(spec, { home, environment, memberId, leads, team, door: patient }),
          signal,
          onError,
          worksApart: work !== undefined,
          processes: () => {
            const pids = findMarked(environment[MARKER] ?? '');
            return { count: pids.length, cpuMs: cpuTimeOf(pids) };
          },
          account: accountFor(spec),
          fallbackAccounts: Object.fromEntries(
            onLimitOf(member, team).agents.flatMap(({ name, agent }) => {
              const account = accountFor(agent);
              return account === undefined ? [] : [[name, account]];
            }),
          ),
          switches: true,
          handover: handoverOf(member, before),
          transcriptPath: (sessionId) => join(home.transcripts, teamId, memberId, `${sessionId}.jsonl`),
          ...startOf(
            { team, member, agent: spec },
            { cwd, env, tools: toolsNow(), servers: serversOf(spec, environment), ...(box && { sandbox: box }) },
          ),
          toolsNow,
        });
      } finally {
        await box?.close();
      }
    };
    let ending = await live(first, first.agent, undefined);
    for (let before = first.agent; ending === 'switched';) {
      const member = await patient.call('member.show', { teamId, memberId });
      ending = await live(member, member.agent ?? before, catalogNameOf(before));
      before = member.agent ?? before;
    }
    if (ending === 'crashed') return 1;
    // Only the sender knows whether a signal was a stop or an accident, so the supervisor records it.
    if (ending === 'stopped') return TERMINATED;
    // It agreed to stop: its tasks are released.
    if (ending === 'shutdown') await leave(client, teamId, memberId);
    return 0;
  } finally {
    signal.removeEventListener('abort', hangUp);
    clearInterval(leaving);
    pulse?.close();
    client.close();
    absence.close();
  }
}

function takenOver(memberId: string, awayMs: number): TeamError {
  return new TeamError(
    'member_stopped',
    `The daemon was unreachable for ${awayMs / 1000} s: another machine may soon run ${memberId}, so its ` +
      'agent was ended here. The daemon restarts it when it is back, if it still owns it',
  );
}

/** What an adapter may need to know about its surroundings. */
interface Surroundings extends Pick<TeammateProcessOptions, 'home' | 'environment' | 'memberId'> {
  readonly door: Door;
  readonly leads: boolean;
  readonly team: ResultOf<'team.show'>;
}

/**
 * The adapter of each kind. A process loads only the one that it runs: its start is shorter without the others. A kind
 * that runs in another process has none here.
 */
const ADAPTERS: Readonly<
  Record<AgentKind, (spec: AgentSpec, around: Surroundings) => Agent | Promise<Agent> | undefined>
> = {
  claude: async ({ command, args }) => (await import('./agents/claude.ts')).claudeAgent({ command, args }),
  codex: async ({ command, args }) => (await import('./agents/codex.ts')).codexAgent({ command, args }),
  acp: async ({ name, command, args }) => (await import('./agents/acp.ts')).acpAgent({ name, command, args }),
  'claude-native': nativeAgent,
  exec({ command = [], args = [], messages = false }, { leads }) {
    const [program, ...rest] = [...command, ...args];
    // A lead without mail could not lead.
    return program === undefined ? undefined : execAgent({ command: [program, ...rest], mail: leads || messages });
  },
  function: () => undefined,
  team: (_spec, { door }) => teamAgent(door),
};

async function agentFor(spec: AgentSpec, around: Surroundings): Promise<Agent> {
  const agent = await ADAPTERS[spec.kind](spec, around);
  if (!agent) throw new TeamError('unsupported', `This Troupe cannot run agents of kind ${spec.kind}`);
  return agent;
}

/** Claude Code as a teammate of a native team, which we lead on behalf of this team; also if it leads ours. */
async function nativeAgent(
  { command, args }: AgentSpec,
  { home, environment, memberId, team }: Surroundings,
): Promise<Agent> {
  const { claudeNativeAgent } = await import('./bridge/hosted/agent.ts');
  mkdirSync(home.terminals, { recursive: true, mode: 0o700 });
  const stream = streamOf({ createdAt: new Date(team.createdAt) });
  return claudeNativeAgent({
    command,
    args,
    mark: { home: home.directory, teamId: team.id, stream },
    leadId: team.leadId,
    root: findNativeRoot(environment),
    socket: terminalSocket(home, team.id, memberId),
    openScreen: openTmuxScreen,
  });
}

/**
 * The team's tools for the member: the daemon's endpoint with the member's credential, and this program on stdio, with
 * the state directory as it is seen there.
 */
function toolsFor(
  home: Home,
  tokenFile: string,
  seen: { readonly directory: string; readonly tokenFile: string },
): TeamTools {
  const url = readCard(home.card)?.url;
  const token = readFileSync(tokenFile, 'utf8').trim();
  return {
    name: 'troupe',
    // Agents could not verify a self-signed certificate, so they use the stdio proxy, which goes over the socket.
    ...(url?.startsWith('http://') && {
      http: { url: `${url}/mcp`, headers: { authorization: `Bearer ${token}`, 'x-troupe-teams': '1' } },
    }),
    stdio: {
      command: process.execPath,
      args: [fileURLToPath(new URL('../bin/troupe.js', import.meta.url)), 'mcp'],
      env: {
        TROUPE_HOME: seen.directory,
        TROUPE_TOKEN_FILE: seen.tokenFile,
        CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
      },
    },
  };
}

/** The daemon's variables that the agent's provider needs. */
function providerOf(spec: AgentSpec, environment: TeammateProcessOptions['environment']): string[] {
  const known = findAgent(catalogNameOf(spec));
  return known ? providerVariables(known, environment, spec.env) : [];
}

async function leave(client: Client, teamId: string, memberId: string): Promise<void> {
  try {
    await client.call('member.remove', { teamId, memberId, reason: SHUTDOWN });
  } catch (error) {
    // Someone else recorded it first.
    if (codeOf(error) !== 'member_stopped' && codeOf(error) !== 'team_closed') throw error;
  }
}

function doorTo(client: Client, teamId: string): Door {
  return {
    call: (name, input, options) => client.call(name, input, options),
    changes: (signal, after) => client.subscribe(teamId, { after, signal }),
  };
}
