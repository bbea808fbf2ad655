import { SYSTEM } from '../../core/actor.ts';
import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { joinSome } from '../../core/text.ts';
import type { LostWork, StandingWork } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OwnProject } from './project.ts';

/**
 * Lets a team go on whose landed work is gone with its depot: from the newest landing that the checkout has, else from its
 * base. What is lost is recorded, and the lead is told. Workspaces keep their files.
 */
export async function recoverTip(
  ledger: Ledger,
  teamId: string,
  { depot, work }: Pick<OwnProject, 'depot'> & { readonly work: StandingWork },
): Promise<void> {
  if ((await depot.has([work.tip])).length > 0) return;
  const landings = await listLandings(ledger, teamId);
  const here = new Set(await depot.has([work.base, ...landings.map(({ merged }) => merged)]));
  const last = landings.findLastIndex(({ merged }) => here.has(merged));
  const to = landings[last]?.merged ?? work.base;
  const works = landings
    .slice(last + 1)
    .flatMap(({ taskId, merged }) => (taskId === undefined ? [] : { taskId, merged }));
  const { isOpen, leadId } = await ledger.view(teamId, ({ team, members }) => ({
    isOpen: team !== undefined && team.status !== 'cleaned-up',
    leadId: team && members.has(team.leadId) ? team.leadId : undefined,
  }));
  const gone = `Commit ${shortId(work.tip)}, the last one of ${work.branch}, is gone with the repository in which Troupe had it`;
  if (!here.has(to) || !isOpen) throw new TeamError('storage', `${gone}: the work of team ${teamId} cannot be shown`);
  const why = 'the repository in which Troupe had it was removed or damaged';
  const tasks = joinSome([...new Set(works.map(({ taskId }) => `#${taskId}`))], ', ');
  const content =
    `${gone}. Lost: what landed for ${tasks}. The branch goes on from ${shortId(to)}. ` +
    'Workspaces that were at that commit still have its files: they count as work of their members, and land with what these hand in next.';
  const lose = { type: 'work.lose', by: SYSTEM, from: work.tip, to, works, why } as const;
  const messageId = `lost-${work.tip}`;
  const message = { type: 'message.send', by: SYSTEM, messageId, messageType: 'system', content } as const;
  const tell = leadId === undefined ? [] : [{ ...message, toId: leadId, priority: 'normal' } as const];
  await ledger.execute(teamId, [lose, ...tell], () => undefined);
}

/** Where the branch was, in order, and for which task it got there; none if a person moved it. */
async function listLandings(
  ledger: Ledger,
  teamId: string,
): Promise<(Pick<LostWork, 'merged'> & { readonly taskId?: string })[]> {
  const found: (Pick<LostWork, 'merged'> & { readonly taskId?: string })[] = [];
  for await (const { events } of ledger.read(teamId, 0)) {
    for (const event of events) {
      if (event.type === 'work:landed') found.push({ taskId: event.taskId, merged: event.merged });
      if (event.type === 'tip:moved') found.push({ merged: event.to });
    }
  }
  return found;
}
