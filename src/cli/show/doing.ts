import { whyBlocked } from '../../core/blocked.ts';
import { wordLease } from '../../core/lease.ts';
import { explainHalt, isHalt, takerObstacles } from '../../core/obstacles.ts';
import { waitsToLand, wordLanding } from '../../core/queue-view.ts';
import { waitingOf, waitsOrSilent } from '../../core/waiting.ts';
import type { ResultOf } from '../../operations/index.ts';
import { clean } from './text.ts';
import { answerCommand, answerName, taskName, taskNames } from './words.ts';

type Member = ResultOf<'member.show'>;

/** What is known about a team besides its members. */
export interface Surrounded {
  readonly team: ResultOf<'team.show'>;
  /** By id. */
  readonly tasks: ReadonlyMap<string, ResultOf<'task.show'>>;
  readonly requests: ResultOf<'request.list'>;
}

/** What a member does now, or waits for; empty if it has nothing to do. */
export function describeDoing(member: Member, { team, tasks, requests }: Surrounded): string {
  const waiting = requests.filter(({ kind, status }) => status === 'pending' && kind !== 'shutdown');
  // A reviewer does not wait for a person: its question is for itself.
  const asked = waiting.find(({ memberId, kind }) => memberId === member.id && kind !== 'review');
  if (asked) {
    const why = asked.kind === 'restart' && member.stopReason !== undefined ? `${clean(member.stopReason)}; ` : '';
    return `${why}waits for your answer (${asked.kind}): ${answerCommand(asked)} ${answerName(asked, waiting)}`;
  }
  const reason = waitingOf(member);
  if (reason !== undefined) return `${waitsOrSilent(member)}: ${reason}`;
  if (member.status === 'stopped') return member.stopReason ?? '';
  const own = member.assignedTasks.flatMap((id) => tasks.get(id) ?? []);
  const held = own.filter(({ status }) => status === 'in_progress');
  const plans = member.planModeRequired && member.status === 'active' ? 'plans ' : '';
  if (held.length > 0) {
    return held
      .map(({ id, title, work, leaseUntil }) => {
        const lease = wordLease({ leaseUntil }, Date.now());
        const name = `${taskName(id)} ${title}${lease === undefined ? '' : ` (${lease})`}`;
        return work && waitsToLand({ work }) ? `${name}: ${wordLanding(work)}` : `${plans}${name}`;
      })
      .join(', ');
  }
  const blocked = own.find(({ status }) => status === 'blocked');
  if (!blocked) return whyIdle(member, team);
  return `waits: ${taskName(blocked.id)} ${clean(whyBlocked(blocked, (ids) => `needs ${taskNames(ids)}`))}`;
}

/** Why a member would claim nothing, whatever tasks there are; empty if it would. */
function whyIdle({ id: memberId }: Member, team: Surrounded['team']): string {
  const members = new Map(team.members.map((one) => [one.id, { ...one, statusSince: new Date(one.statusSince) }]));
  const halt = takerObstacles(team, members, { memberId, at: Date.now() }).find(isHalt);
  return halt ? `waits: ${clean(explainHalt(team.id, halt))}` : '';
}
