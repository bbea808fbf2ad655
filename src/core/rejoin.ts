import { JoinInput } from './member.ts';
import { parse } from './parse.ts';
import type { MemberRecord } from './state.ts';

/** The input that adds the same member again, with the session that it can resume. */
export function rejoinInput(member: MemberRecord): JoinInput {
  return parse(JoinInput, {
    name: member.id,
    role: member.role,
    prompt: member.spawnPrompt ?? '',
    model: member.model,
    planApprovalRequired: member.planApprovalRequired && !member.planApproved,
    agentType: member.agentType,
    sessionId: member.sessionId,
    color: member.color,
    cwd: member.cwd,
    workspace: member.workspace,
    backendType: member.backendType,
    status: 'spawning',
    agent: member.agent,
    host: member.host,
    labels: member.labels,
    budget: member.budget,
    quietHours: member.quietHours,
    onLimit: member.onLimit,
    // What it waited for is over, or will be reported again.
    metadata: withoutWaiting(member.metadata),
  });
}

function withoutWaiting(metadata: MemberRecord['metadata']): MemberRecord['metadata'] {
  if (!metadata || !('waiting' in metadata)) return metadata;
  const { waiting: _waiting, ...rest } = metadata;
  return Object.keys(rest).length > 0 ? rest : undefined;
}
