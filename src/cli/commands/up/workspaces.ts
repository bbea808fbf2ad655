import { shortId } from '../../../core/commit-id.ts';
import { joinSome } from '../../../core/text.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { shortPath } from '../../show/path.ts';
import type { Screen } from '../../show/screen.ts';
import { paint } from '../../show/screen.ts';
import { clean } from '../../show/text.ts';
import { taskNames } from '../../show/words.ts';
import { sizeOf } from '../../show/work-size.ts';

/** Says where the members work, and why. */
export function workspacesLine(
  { work }: Pick<ResultOf<'team.show'>, 'work'>,
  { work: planned }: Pick<ResultOf<'team.check'>, 'work'>,
  environment: NodeJS.ProcessEnv,
): string {
  if (!work && planned?.why === undefined) return '';
  if (!work) return `Workspaces: shared, because ${clean(planned?.why ?? '')}\n`;
  const where = clean(shortPath(work.repository, environment));
  return `Workspaces: each member has its own, from ${shortId(work.base)} of ${where}\n`;
}

/** Names files that the members will not see. */
export function uncommittedNotice({ work }: Pick<ResultOf<'team.check'>, 'work'>): string {
  const files = work?.uncommitted ?? [];
  if (work?.workspaces !== 'own' || files.length === 0) return '';
  const [are, them] = files.length === 1 ? ['1 file is', 'it'] : [`${files.length} files are`, 'them'];
  const names = clean(joinSome(files, ', '));
  return `troupe: ${are} not committed, so the members do not see ${them}: ${names}. To take ${them} along: troupe up --with-changes\n`;
}

/** Names uncommitted files that could not be taken along. */
export function leftOutNotice(leftOut: readonly string[]): string {
  const shown = leftOut.slice(0, SHOWN).map((line) => `  ${clean(line)}\n`);
  const more = leftOut.length > SHOWN ? [`  and ${leftOut.length - SHOWN} more\n`] : [];
  return `troupe: not taken along, so the members do not see:\n${[...shown, ...more].join('')}`;
}

/** More would only repeat the kind. */
const SHOWN = 20;

/** What landed, what did not, and what to do next. */
export function describeWork(work: ResultOf<'work.show'> | undefined, teamId: string, screen: Screen): string[] {
  if (work?.workspaces !== 'own') return [];
  const { branch = '', base = '', tip = '', isMerged = false, tasks = [] } = work;
  const conflicting = tasks.filter(({ state }) => state === 'conflicted').map(({ taskId }) => taskId);
  const merge = isMerged ? '' : ` Bring it into your checkout: troupe merge --team ${clean(teamId)}`;
  const landed =
    tip === base
      ? `Nothing landed on ${clean(branch)}.`
      : `Landed on ${clean(branch)}: ${sizeOf(work)}, ${shortId(base)}..${shortId(tip)}. See it: troupe diff --team ${clean(teamId)}.${merge}`;
  const lost = `Not on the branch, because it conflicts: the work of ${taskNames(conflicting)}. It is kept: troupe work --team ${clean(teamId)}`;
  return [landed, ...(conflicting.length > 0 ? [paint(screen, 'yellow', lost)] : [])];
}
