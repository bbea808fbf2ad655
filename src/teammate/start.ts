import type { StartOptions } from '../agents/agent.ts';
import { catalogNameOf } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { folderOfWork } from '../core/folder.ts';
import { NO_SESSION } from '../core/member-marks.ts';
import { isVacant } from '../core/person.ts';
import type { ResultOf } from '../operations/index.ts';
import { readSkills } from './extras.ts';
import { rightsOf } from './permissions.ts';
import { describeRole } from './role.ts';
import type { TeammateOptions } from './teammate.ts';

/** The start options of a member, from its record and its team: its role, its rights, the session to resume. */
export function startOf(
  { team, member, agent }: { team: ResultOf<'team.show'>; member: ResultOf<'member.show'>; agent: AgentSpec },
  around: Pick<StartOptions, 'cwd' | 'env' | 'tools' | 'servers' | 'sandbox'>,
): Pick<TeammateOptions, 'start' | 'permissions' | 'workMode' | 'silence'> {
  const { id: memberId, role, spawnPrompt: prompt, model, sessionId } = member;
  const { id: teamId, leadId, peers } = team;
  const leads = leadId === memberId;
  const delegates = leads && team.delegateMode;
  const { mode: workMode, permissions } = rightsOf(agent);
  const agents = Object.keys(team.agents ?? {});
  const hasTools = around.tools !== undefined;
  const copyOf = member.workspace === 'own' && team.work ? folderOfWork(team.work) : undefined;
  // The person's own folder comes first: a file there need not be committed, and no agent changes it.
  const skills = readSkills(agent.skills ?? [], copyOf === undefined ? [around.cwd] : [copyOf, around.cwd]);
  return {
    permissions,
    workMode,
    silence: agent.silence,
    start: {
      teamId,
      memberId,
      ...around,
      copyOf,
      effort: agent.effort,
      ownTools: agent.tools,
      role: describeRole({
        teamId,
        memberId,
        leads,
        delegates,
        leadId: team.members.some((one) => one.id === leadId && isVacant(one)) ? undefined : leadId,
        role,
        prompt,
        agents,
        hasTools,
        skills,
        worksApart: member.workspace === 'own',
        peers,
      }),
      model,
      mode: member.planModeRequired ? 'plan' : delegates ? 'delegate' : workMode,
      resume: sessionId === NO_SESSION ? undefined : sessionId,
    },
  };
}

/**
 * Why the first turn of an agent begins with a handover: it takes over from `before`, or from the member's own agent if
 * an earlier process has not come so far.
 */
export function handoverOf(
  { standIn, sessionId }: Pick<ResultOf<'member.show'>, 'standIn' | 'sessionId'>,
  before: string | undefined,
): string | undefined {
  if (standIn && (before !== undefined || sessionId === NO_SESSION)) {
    const from = before ?? catalogNameOf(standIn.own.agent);
    return `You take over from ${from}: the limit of its account is reached. None of the work is lost: what it did is in your folder.`;
  }
  if (before === undefined) return undefined;
  return `The limit of your account is over, and you go on. Meanwhile ${before} did your work in your name.`;
}
