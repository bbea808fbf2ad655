import { USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { ErrorFacts } from '../core/errors.ts';
import { isSlug, suggestSlug } from '../core/fields.ts';
import { MAX_MESSAGES_PER_MINUTE, MAX_TEAMMATES } from '../core/limits.ts';
import { parse } from '../core/parse.ts';
import type { TeamState } from '../core/state.ts';
import { CreateTeamInput } from '../core/team.ts';
import { quote } from '../core/text.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { markOf } from './mirror/marks.ts';
import type { TeamMark } from './mirror/marks.ts';
import { leadOf } from './mirror/presence/lead.ts';
import { isClosed, sessionOf } from './mirror/presence/presence.ts';
import type { NativeTeam } from './snapshot.ts';

/** The mark of the native team that this team is joined to, or was last. */
function lastMark(state: TeamState): TeamMark | undefined {
  return markOf(state) ?? markOf(state, 'formerNative');
}

const OTHER_NAME: ErrorFacts = { option: { field: 'rename', effect: 'choose another name' } };

/** Whether our team is, or was, joined to exactly this native team. */
function isSame(state: TeamState, { name, config }: NativeTeam): boolean {
  const session = config && sessionOf(config);
  const known = lastMark(state);
  return known?.name === name && (known.session ?? session) === session;
}

/**
 * A free name for a team that is created for seats, where nobody chooses a name. A native team that was closed and
 * created again, as when its session is resumed, has the name of its earlier team here.
 */
export async function freeName(ledger: Ledger, wanted: string, team: NativeTeam): Promise<string> {
  const isFree = (state: TeamState): boolean => !state.team || (!isClosed(state) && isSame(state, team));
  let name = wanted;
  for (let i = 2; !(await ledger.view(name, isFree)); i++) name = `${wanted.slice(0, 60)}-${i}`;
  return name;
}

/** Creates our team for this native one, or marks the one that was joined to it before. */
export async function prepareTeam(ledger: Ledger, teamId: string, team: NativeTeam, seats: boolean): Promise<void> {
  const session = team.config && sessionOf(team.config);
  const mark = { native: { name: team.name, ...(session !== undefined && { session }), ...(seats && { seats }) } };
  const found = await ledger.view(
    teamId,
    (state) =>
      state.team && {
        isOver: isClosed(state),
        isSame: isSame(state, team),
        isJoined: markOf(state) !== undefined,
        name: lastMark(state)?.name,
        leftAt: markOf(state, 'formerNative')?.leftAt,
      },
  );
  if (found) {
    if (found.isOver) {
      throw new TeamError(
        'exists',
        `There is a closed team ${quote(teamId)} here: remove it with "troupe team delete ${teamId}"`,
        { facts: OTHER_NAME },
      );
    }
    if (!found.isSame) {
      const why = found.name === team.name ? 'from an earlier native team of that name' : 'which is a different one';
      throw new TeamError('exists', `There is a team ${quote(teamId)} here, ${why}: leave or delete it`, {
        facts: OTHER_NAME,
      });
    }
    if (found.isJoined) return;
    const { leftAt } = found;
    const native = { ...mark.native, ...(leftAt !== undefined && { leftAt }) };
    const again = { type: 'team.update' as const, by: USER, metadata: { native, formerNative: null } };
    await ledger.execute(teamId, again, () => undefined);
    return;
  }
  const lead = leadOf(team);
  const input = parse(CreateTeamInput, {
    name: teamId,
    description: `Claude Code's own team ${team.title}`.slice(0, 500),
    leadName: isSlug(lead) ? lead : suggestSlug(lead),
    leadAgentType: 'claude-native',
    maxTeammates: MAX_TEAMMATES,
    // Claude Code limits its members itself, and a limit of ours would lose messages.
    messagesPerMinute: MAX_MESSAGES_PER_MINUTE,
    metadata: mark,
  });
  await ledger.execute(teamId, { type: 'team.create', by: USER, ...input }, () => undefined);
}
