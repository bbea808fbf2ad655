import { isDeepStrictEqual } from 'node:util';
import type { AgentSpec } from '../../core/agent.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import { quote } from '../../core/text.ts';
import { specIn } from './agents.ts';
import type { TeamFile } from './schema.ts';
import { standingTasks } from './tasks.ts';

/** What a standing team keeps although its file now says something else, a sentence each. */
export function describeKept(state: TeamState, file: TeamFile): string[] {
  const { team } = state;
  if (!team || team.status === 'cleaned-up') return [];
  return [...keptByMembers(state, file), ...keptTasks(state, file)];
}

/** A member that runs keeps what it was started with; one that is stopped is started with what the file says. */
function keptByMembers({ team, members }: TeamState, file: TeamFile): string[] {
  const lead = typeof file.lead === 'object' ? [{ ...file.lead, name: team?.leadId ?? '', leads: true }] : [];
  return [...lead, ...file.members.map((entry) => ({ ...entry, leads: false }))].flatMap(({ leads, ...entry }) => {
    const member = members.get(entry.name);
    if (!member || member.status === 'stopped') return [];
    const { prompt = '', role = leads ? member.role : 'teammate', plan } = entry;
    const isOther = {
      agent: !isDeepStrictEqual(ownAgent(member), withoutTexts(specIn(file, entry))),
      // The prompt of a lead may also have a goal, or the description of the team.
      prompt: !leads && (member.spawnPrompt ?? '') !== prompt,
      role: member.role !== role,
      plan: member.planApprovalRequired !== (plan === 'required'),
    };
    const fields = Object.entries(isOther).flatMap(([field, differs]) => (differs ? field : []));
    if (fields.length === 0) return [];
    return `${entry.name} already runs and keeps its ${fields.join(', ')}; the file says something else now. To start it with that: troupe member stop ${entry.name} --team ${file.team}, then troupe up again.`;
  });
}

/** The agent that it was given, also while another one stands in. */
function ownAgent({ agent, standIn }: MemberRecord): AgentSpec | undefined {
  return withoutTexts(standIn?.own.agent ?? agent);
}

/** The texts of a team inside a member reach it while it runs. */
function withoutTexts(agent: AgentSpec | undefined): AgentSpec | undefined {
  if (!agent) return undefined;
  const { team: _team, ...rest } = agent;
  return rest;
}

function keptTasks(state: TeamState, file: TeamFile): string[] {
  return standingTasks(state, file).flatMap(({ task, entry: { title, description = '' } }) => {
    const { id, status } = task;
    const isOpen = status === 'pending' || status === 'in_progress';
    if (isOpen && (task.title !== title || task.description !== description)) {
      return `Task #${id} (${quote(task.title)}) keeps its text; the file says something else now. To change it: troupe task update ${id} --team ${file.team}.`;
    }
    if (isOpen || task.title === title) return [];
    return `Task #${id} (${quote(task.title)}) is over, so ${quote(title)} is not added in its place. To add it, put it at the end of the list, or give it an id of its own.`;
  });
}
