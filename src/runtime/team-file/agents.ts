import { agentNamed } from '../../core/agent-kinds.ts';
import type { AgentChoice, AgentSpec, McpServer } from '../../core/agent.ts';
import { argvOf } from '../../core/shell.ts';
import type { AgentRef, TeamFile } from './schema.ts';
import { milliseconds } from './values.ts';

/** Any part of a file that sets up an agent: a member, the lead, an entry of `agents`. */
type Entry = Omit<NonNullable<TeamFile['agents']>[string], 'agent' | 'permissions'> & {
  agent: AgentRef;
  permissions?: TeamFile['members'][number]['permissions'];
};

/** The name of an agent in lists. */
export function agentNameOf(agent: AgentRef): string {
  if (typeof agent === 'string') return agent;
  return 'exec' in agent ? 'exec' : 'acp' in agent ? 'acp' : 'team';
}

/** The specification of a member's agent, or of the lead's, as the whole file says. */
export function specIn(file: TeamFile, entry: Entry): AgentSpec {
  const { lead, agents } = file;
  if (entry.permissions !== 'lead') return specOf(withUsualSandbox(file, entry), agents);
  // Only the rules: what the lead may do without asking is its mode, and nobody gets that by starting under it.
  const { permissions = {} } = typeof lead === 'object' ? specOf(lead, agents) : {};
  return specOf({ ...withUsualSandbox(file, entry), permissions }, agents);
}

/** An entry with the sandbox that it has if it says nothing itself: that of its agent, or of all members. */
function withUsualSandbox({ agents, sandbox }: TeamFile, entry: Entry): Entry {
  const set = typeof entry.agent === 'string' ? agents?.[entry.agent] : undefined;
  return { ...entry, sandbox: entry.sandbox ?? set?.sandbox ?? sandbox };
}

/** What an entry says about its member rather than about its program: what it may do without asking and where, what it has and knows. */
export function rightsIn(
  file: TeamFile,
  entry: Entry,
): Pick<Entry, 'mode' | 'permissions' | 'silence' | 'sandbox' | 'mcp' | 'skills'> {
  const { mode, permissions, sandbox = false } = specIn(file, entry);
  const { silence, mcp, skills } = entry;
  return defined({ mode, permissions, silence, sandbox, mcp, skills });
}

/** The specification of an entry's agent; `agents` under its name gives the defaults. */
export function specOf(entry: Entry, agents: TeamFile['agents']): AgentSpec {
  const set = typeof entry.agent === 'string' ? agents?.[entry.agent] : undefined;
  if (set) {
    const { agent = entry.agent, ...general } = set;
    const env = { ...general.env, ...entry.env };
    return specOf({ ...general, ...defined(entry), agent, ...(Object.keys(env).length > 0 && { env }) }, undefined);
  }
  const { agent, command, account, args, env, mode, model, permissions, silence, sandbox } = entry;
  const { effort, mcp, skills, tools } = entry;
  const rest = defined({
    account,
    args,
    env,
    mode,
    model,
    permissions: typeof permissions === 'object' ? defined(permissions) : undefined,
    silence: silenceOf(silence),
    sandbox: sandbox === false ? undefined : sandbox,
    effort,
    mcp: mcp && Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, serverOf(server)])),
    skills,
    tools,
  });
  if (typeof agent === 'object' && 'exec' in agent) {
    return { kind: 'exec', command: argvOf(agent.exec), ...defined({ messages: agent.messages }), ...rest };
  }
  if (typeof agent === 'object' && 'team' in agent) {
    // Its members have clocks, rights and sandboxes of their own.
    return { kind: 'team', silence: 'off', ...(typeof agent.team === 'object' && { team: agent.team }) };
  }
  if (typeof agent === 'object') return { kind: 'acp', command: argvOf(agent.acp), ...rest };
  return { ...agentNamed(agent), ...(command !== undefined && { command: argvOf(command) }), ...rest };
}

function serverOf(server: NonNullable<Entry['mcp']>[string]): McpServer {
  if ('url' in server) return { url: server.url, ...defined({ headers: server.headers }) };
  return { command: argvOf(server.command), ...defined({ env: server.env }) };
}

function silenceOf(silence: Entry['silence']): AgentSpec['silence'] {
  if (typeof silence !== 'object') return silence;
  const { model, tool, tools, process } = silence;
  return {
    ...(process !== undefined && { process: milliseconds(process) }),
    ...(model !== undefined && { model: milliseconds(model) }),
    ...(tool !== undefined && { tool: milliseconds(tool) }),
    ...(tools && {
      tools: Object.fromEntries(Object.entries(tools).map(([name, time]) => [name, milliseconds(time)])),
    }),
  };
}

/** The agents that a file's lead may add: those that the file sets up, else more of its own kind. */
export function choiceOf(file: TeamFile): AgentChoice | undefined {
  if (typeof file.lead !== 'object') return undefined;
  const { lead, agents } = file;
  if (!agents) {
    return typeof lead.agent === 'string'
      ? { [lead.agent]: specOf(withUsualSandbox(file, lead), undefined) }
      : undefined;
  }
  return Object.fromEntries(
    Object.entries(agents).map(([name, entry]) => [
      name,
      specOf(withUsualSandbox(file, { agent: name, ...defined(entry) }), undefined),
    ]),
  );
}

/** Every agent that a file starts or lets its lead start. */
export function specsOf(file: TeamFile): AgentSpec[] {
  const lead = typeof file.lead === 'object' ? [file.lead] : [];
  return [...[...lead, ...file.members].map((entry) => specIn(file, entry)), ...Object.values(choiceOf(file) ?? {})];
}

function defined<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
