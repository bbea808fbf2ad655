import {
  isLost,
  isPerson,
  sameSince,
  waitingOf,
  waitsOrSilent,
  wordOnLimit,
  wordSettings,
} from '../../src/client/replica.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { BudgetMark } from '../parts/budget-mark.tsx';
import { ContextMeter } from '../parts/context-meter.tsx';
import { showControls } from '../parts/controls.ts';
import { Fact } from '../parts/fact.tsx';
import {
  UNTOLD,
  costOrUntold,
  showAgo,
  showBudget,
  showExactCost,
  showMoment,
  tokensOf,
  tokensOrUntold,
} from '../parts/format.ts';
import { agentOf } from '../team/member-card.tsx';
import { MemberState, StateSpan } from '../team/member-state.tsx';

/** The recorded facts about a member. */
export function Facts({ member }: { member: MemberRecord }) {
  const usage = useTeam(({ view }) => view.state.memberUsage.get(member.id));
  const now = useTeamNow();
  const joined = sameSince(member);
  return (
    <section className="member-facts" aria-label="On record">
      <div className="big-figures">
        <div>
          <b>{tokensOrUntold(tokensOf(usage ?? {}))}</b>
          <span>tokens</span>
        </div>
        <div>
          <b title={usage?.costUsd ? showExactCost(usage.costUsd) : undefined}>{costOrUntold(usage?.costUsd ?? 0)}</b>
          <span>{usage?.estimated ? 'cost, estimated' : 'cost'}</span>
        </div>
        <div>
          <b>{usage?.turns ?? UNTOLD}</b>
          <span>turns</span>
        </div>
      </div>
      <dl className="facts">
        <Fact name="State">
          <MemberState member={member} /> {!isPerson(member) && <StateSpan member={member} />}
        </Fact>
        <Fact name="Joined">
          <span title={showMoment(joined)}>{showAgo(joined, now)}</span>
        </Fact>
        {member.context && (
          <Fact name="Context">
            <ContextMeter context={member.context} />
          </Fact>
        )}
        {agentOf(member) !== '' && <Fact name="Agent">{agentOf(member)}</Fact>}
        {member.agent?.mode && <Fact name="May do alone">{member.agent.mode}</Fact>}
        {member.agent &&
          wordSettings(member.agent).map(([name, text]) => (
            <Fact key={name} name={name[0]?.toUpperCase() + name.slice(1)}>
              {showControls(text)}
            </Fact>
          ))}
        {member.planApprovalRequired && (
          <Fact name="Plan">{member.planApproved ? 'approved' : 'must be approved first'}</Fact>
        )}
        {member.budget && (
          <Fact name="Budget">
            {showBudget(member.budget)} <BudgetMark memberId={member.id} />
          </Fact>
        )}
        {member.quietHours !== undefined && <Fact name="Quiet hours">{member.quietHours}</Fact>}
        {member.onLimit && <Fact name="On limit">{wordOnLimit(member.onLimit)}</Fact>}
        {member.sessionId !== 'none' && (
          <Fact name="Session" isWide>
            <span className="mono">{member.sessionId}</span>
          </Fact>
        )}
        {waitingOf(member) !== undefined && (member.status !== 'stopped' || isLost(member)) && (
          <Fact name={waitsOrSilent(member) === 'waits' ? 'Waits' : 'Silent'}>
            {showControls(waitingOf(member) ?? '')}
          </Fact>
        )}
        {member.hostId !== undefined && <Fact name="Runs on">{member.hostId}</Fact>}
        {member.cwd !== undefined && member.workspace !== 'own' && (
          <Fact name="Folder" isWide>
            <span className="mono">{showControls(member.cwd)}</span>
          </Fact>
        )}
        {member.stopReason !== undefined && member.status === 'stopped' && (
          <Fact name="Stopped">{showControls(member.stopReason)}</Fact>
        )}
      </dl>
      {member.spawnPrompt !== undefined && (
        <details>
          <summary className="label">What it was told at the start</summary>
          <pre className="code">{showControls(member.spawnPrompt)}</pre>
        </details>
      )}
      {member.lastResult !== undefined && (
        <details>
          <summary className="label">Its last result</summary>
          <pre className="code">{showControls(member.lastResult)}</pre>
        </details>
      )}
    </section>
  );
}
