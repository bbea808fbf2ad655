import { Crown } from 'lucide-react';
import { memo } from 'react';
import { agentNameOf, countMembers } from '../../src/client/replica.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { teamPath } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { ContextMeter } from '../parts/context-meter.tsx';
import { showControls } from '../parts/controls.ts';
import { plural, usedParts } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Doing, MemberState } from './member-state.tsx';

/** A member at a glance: its name, what it does and since when, and its usage. */
export const MemberCard = memo(function MemberCard({ teamId, member }: { teamId: string; member: MemberRecord }) {
  const isLead = useTeam(({ view }) => view.team?.leadId === member.id);
  const usage = useTeam(({ view }) => view.state.memberUsage.get(member.id));
  const agent = agentOf(member);
  return (
    <li className={`member${member.status === 'stopped' ? ' is-stopped' : ''}`}>
      <Avatar name={member.id} color={isLead ? undefined : member.color} size={32} />
      <div className="member-body">
        <div className="row">
          <Link className="member-name one-line" href={teamPath(teamId, `/m/${member.id}`)}>
            {member.id}
          </Link>
          {isLead ? <LeadBadge /> : <span className="meta one-line member-role">{showControls(member.role)}</span>}
          <span className="spacer" />
          <MemberState member={member} />
        </div>
        <div className="member-task one-line">
          <Doing member={member} />
        </div>
        <div className="row meta">
          {agent !== '' && <span className="one-line member-agent">{agent}</span>}
          {usedParts(usage, 'tok').map((part) => (
            <span key={part}>{part}</span>
          ))}
          <span className="spacer" />
          {member.context && member.status !== 'stopped' && <ContextMeter context={member.context} />}
        </div>
      </div>
    </li>
  );
});

/** Shows that a member is the lead, and the number of its teammates. */
export function LeadBadge() {
  const count = useTeam(({ view }) => countMembers(view.members, view.team).teammates);
  return (
    <span className="badge" title={plural(count, 'teammate')}>
      <Crown size={11} aria-hidden /> Team Lead
      {count > 0 && (
        <span>
          · {count}
          <span className="hidden">{count === 1 ? ' teammate' : ' teammates'}</span>
        </span>
      )}
    </span>
  );
}

/** Types that name no agent. */
const NO_AGENTS: readonly string[] = ['general-purpose', 'person', 'none'];

/** The agent of a member, and its model. */
export function agentOf({ agent, agentType, model, standIn }: MemberRecord): string {
  const kind = agent ? agentNameOf({ agent, standIn }) : NO_AGENTS.includes(agentType) ? '' : agentType;
  return showControls([kind, model ?? agent?.model].filter(Boolean).join(' · '));
}
