import { resolve } from 'node:path';
import { USER } from '../../core/actor.ts';
import type { AgentSpec } from '../../core/agent.ts';
import { TeamError } from '../../core/errors.ts';
import type { HookConfig } from '../../core/hook.ts';
import { JoinInput } from '../../core/member.ts';
import { parse } from '../../core/parse.ts';
import type { TeamState } from '../../core/state.ts';
import { CreateTaskInput } from '../../core/task.ts';
import { CreateTeamInput } from '../../core/team.ts';
import type { Ledger, NewCommand } from '../../ledger/ledger.ts';
import { hashHook } from '../hooks/approvals.ts';
import { milliseconds } from './schema.ts';
import type { AgentRef, TeamFile } from './schema.ts';

/** Agents by name that are commands of their own; the others speak ACP. */
const NATIVE = ['claude', 'codex', 'claude-native'] as const;

/** The hooks of a file as they are registered: where the file lies, bound to their present content. */
export function hooksOf(file: TeamFile, folder: string): HookConfig[] {
  return Object.entries(file.hooks ?? {}).flatMap(([type, entries]) =>
    [entries].flat().map((entry) => ({
      type: type as HookConfig['type'],
      command: entry.command,
      executor: entry.executor ?? 'shell',
      cwd: folder,
      timeout: entry.timeout === undefined ? 120_000 : milliseconds(entry.timeout),
      enabled: true,
      onFailure: entry.onFailure ?? 'allow',
      ...(entry.env && { env: entry.env }),
      approved: hashHook(entry.command, folder),
    })),
  );
}

/**
 * Brings a team to what its file says, in one step: made if it is not there, else completed by the members and tasks that
 * are missing. Tasks are known again by their id in the file.
 */
export async function raiseTeam(ledger: Ledger, file: TeamFile, folder: string): Promise<void> {
  const commands = await ledger.view(file.team, (state) => commandsFor(state, file, folder));
  if (commands.length > 0) await ledger.execute(file.team, commands, () => undefined);
}

function commandsFor(state: TeamState, file: TeamFile, folder: string): NewCommand[] {
  if (state.team?.status === 'cleaned-up') {
    throw new TeamError(
      'team_closed',
      `Team ${file.team} was closed: delete it (troupe team delete ${file.team}) or choose another name`,
    );
  }
  return [...teamCommands(state, file, folder), ...memberCommands(state, file, folder), ...taskCommands(state, file)];
}

function teamCommands(state: TeamState, file: TeamFile, folder: string): NewCommand[] {
  if (state.team) {
    return state.team.status === 'shutting-down' ? [{ type: 'team.update', by: USER, status: 'active' }] : [];
  }
  const lead = typeof file.lead === 'object' ? file.lead : undefined;
  const team = parse(CreateTeamInput, {
    name: file.team,
    description: file.description ?? '',
    cwd: folder,
    ...(lead?.name !== undefined && { leadName: lead.name }),
    leadAgentType: lead ? nameOf(lead.agent) : (file.lead ?? 'none'),
    ...(lead?.delegate !== undefined && { delegateMode: lead.delegate }),
    ...(file.mode && { teammateMode: file.mode }),
    maxTeammates: file.limits?.maxTeammates ?? Math.max(8, file.members.length),
    ...(file.limits?.messagesPerMinute !== undefined && { messagesPerMinute: file.limits.messagesPerMinute }),
    metadata: { folder, lead: lead ? 'agent' : (file.lead ?? 'none') },
  });
  const hooks = hooksOf(file, folder).map((hook): NewCommand => ({ type: 'hook.register', by: USER, hook }));
  return [{ type: 'team.create', by: USER, ...team }, ...hooks];
}

function memberCommands(state: TeamState, file: TeamFile, folder: string): NewCommand[] {
  return file.members
    .filter(({ name }) => (state.members.get(name)?.status ?? 'stopped') === 'stopped')
    .map((member): NewCommand => {
      const join = parse(JoinInput, {
        name: member.name,
        role: member.role ?? 'teammate',
        prompt: member.prompt ?? '',
        ...(member.model !== undefined && { model: member.model }),
        planApprovalRequired: member.plan === 'required',
        agentType: nameOf(member.agent),
        cwd: resolve(folder, member.cwd ?? '.'),
        backendType: member.backend ?? 'subprocess',
        status: 'spawning',
        agent: specOf(member),
      });
      return { type: 'member.join', by: USER, ...join };
    });
}

/** Ids are given in the order of the file, so that a task's number is its place; those it needs must come before it. */
function taskCommands(state: TeamState, file: TeamFile): NewCommand[] {
  const numbers = new Map<string, string>();
  for (const task of state.tasks.values()) {
    const key = task.metadata?.['key'];
    if (typeof key === 'string') numbers.set(key, task.id);
  }
  let next = state.nextTask;
  const missing = file.tasks
    .map((task, i) => ({ ...task, key: task.id ?? `task ${i + 1}` }))
    .filter(({ key }) => !numbers.has(key));
  for (const { key } of missing) numbers.set(key, String(next++));
  const creates = missing.map((task): NewCommand => {
    const input = parse(CreateTaskInput, {
      title: task.title,
      description: task.description ?? '',
      ...(task.priority && { priority: task.priority }),
      ...(task.assign !== undefined && { assigneeId: task.assign }),
      ...(task.onDependencyFailure && { onDependencyFailure: task.onDependencyFailure }),
      metadata: { key: task.key },
    });
    return { type: 'task.create', by: USER, ...input };
  });
  // A file may name a task before it describes it: the edges come when all tasks are there.
  const edges = missing.flatMap((task): NewCommand[] => {
    const dependencies = (task.needs ?? []).map((need) => numbers.get(need) as string);
    if (dependencies.length === 0) return [];
    return [{ type: 'task.addDependencies', by: USER, taskId: numbers.get(task.key) as string, dependencies }];
  });
  return [...creates, ...edges];
}

function nameOf(agent: AgentRef): string {
  if (typeof agent === 'string') return agent;
  return 'exec' in agent ? 'exec' : 'acp';
}

function specOf(member: TeamFile['members'][number]): AgentSpec {
  const { agent, command, args, env, mode, model } = member;
  const rest = {
    ...(args && { args }),
    ...(env && { env }),
    ...(mode && { mode }),
    ...(model !== undefined && { model }),
  };
  if (typeof agent === 'object' && 'exec' in agent) {
    return {
      kind: 'exec',
      command: argv(agent.exec),
      ...(agent.messages !== undefined && { messages: agent.messages }),
      ...rest,
    };
  }
  if (typeof agent === 'object') return { kind: 'acp', command: argv(agent.acp), ...rest };
  const binary = command === undefined ? {} : { command: argv(command) };
  const native = NATIVE.find((kind) => kind === agent);
  return native ? { kind: native, ...binary, ...rest } : { kind: 'acp', name: agent, ...binary, ...rest };
}

/** A list is a program and its arguments; a text is a shell command, run as it stands. */
function argv(command: string | readonly string[]): string[] {
  return typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
}
