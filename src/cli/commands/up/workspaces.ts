import { shortId } from '../../../core/commit-id.ts';
import { joinSome } from '../../../core/text.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { describeNotHandedIn } from '../../show/not-handed-in.ts';
import { shortPath } from '../../show/path.ts';
import type { Screen } from '../../show/screen.ts';
import { paint } from '../../show/screen.ts';
import { clean, cut } from '../../show/text.ts';
import { taskNames } from '../../show/words.ts';
import { sizeOf } from '../../show/work-size.ts';
import type { Outcome } from './follow.ts';

/** Says where the members work, and why. */
export function workspacesLine(
  { work }: Pick<ResultOf<'team.show'>, 'work'>,
  { work: planned }: Pick<ResultOf<'team.check'>, 'work'>,
  environment: NodeJS.ProcessEnv,
): string {
  if (!work && planned?.why === undefined) return '';
  if (!work) return `Workspaces: shared, because ${clean(planned?.why ?? '')}\n`;
  const where = clean(shortPath(work.repository, environment));
  return `Workspaces: each member has its own, from ${shortId(work.base)} of ${where}${wayOf(work)}\n`;
}

/** How work gets to other machines, if the file says so. */
function wayOf({ remote, roots }: NonNullable<ResultOf<'team.show'>['work']>): string {
  if (!remote) return '';
  return roots
    ? `; work travels by ${clean(remote.name)}`
    : `; work.remote has no effect, because no other machine shares the journal`;
}

/** Says that a standing team does not see what was committed since, and how to give it to the members. */
export function behindNotice({ team, work }: Pick<ResultOf<'team.check'>, 'team' | 'work'>): string {
  if (!work?.ahead) return '';
  const { commits, isOnTop } = work.ahead;
  const [what, them] = commits === 1 ? ['1 commit', 'it'] : [`${commits} commits`, 'them'];
  const first = isOnTop ? '' : `troupe merge --team ${clean(team)}, then `;
  return `troupe: your checkout has ${what} that ${clean(work.branch ?? '')} lacks, so the members do not see ${them}. To take ${them} in: ${first}troupe work take HEAD --team ${clean(team)}\n`;
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

/** More files would push the summary out of sight; `troupe diff --stat` has them all. */
const FILES = 10;

/** What landed and what did not, how the branch differs, and what to do next. */
export function describeWork(
  { work, changes = [], team, open: isOpen = false }: Pick<Outcome, 'work' | 'changes' | 'team' | 'open'>,
  screen: Screen,
): string[] {
  if (work?.workspaces !== 'own') return [];
  const { branch = '', base = '', tip = '', isMerged = false } = work;
  const where = `--team ${clean(team)}`;
  const absent = [
    ...missing(work, where, screen),
    ...describeNotHandedIn(work, { teamId: team, isOpen }).map((line) => paint(screen, 'yellow', line)),
  ];
  if (tip === base) return [`Nothing landed on ${clean(branch)}.`, ...absent];
  const more = changes.length > FILES ? [`  and ${changes.length - FILES} more`] : [];
  const ids = changes.slice(0, FILES).map((change) => (change.added === undefined ? 'binary' : lines(change)));
  const width = Math.max(0, ...ids.map((text) => text.length));
  return [
    `Landed on ${clean(branch)}: ${sizeOf(work)}, ${shortId(base)}..${shortId(tip)}`,
    ...changes
      .slice(0, FILES)
      .map(({ path }, i) => cut(`  ${(ids[i] ?? '').padEnd(width)}  ${clean(path)}`, screen.columns)),
    ...more,
    ...absent,
    `See it: troupe diff ${where}`,
    ...(isMerged ? [] : [`Bring it into your checkout: troupe merge ${where}`]),
  ];
}

function lines({ added = 0, removed = 0 }: NonNullable<Outcome['changes']>[number]): string {
  return `+${added} -${removed}`;
}

/** The work that is not on the branch, and why. */
function missing({ tasks = [], queue }: ResultOf<'work.show'>, where: string, screen: Screen): string[] {
  const conflicting = tasks.filter(({ state }) => state === 'conflicted').map(({ taskId }) => taskId);
  const waiting = queue?.entries.map(({ taskId }) => taskId) ?? [];
  const back = queue?.sentBack.map(({ taskId }) => taskId).filter((id) => !conflicting.includes(id)) ?? [];
  const all = [
    [conflicting, `because it conflicts: the work of ${taskNames(conflicting)}. It is kept: troupe work ${where}`],
    [back, `because it was sent back: the work of ${taskNames(back)}`],
    [waiting, `but in the merge queue: the work of ${taskNames(waiting)}. It lands while the daemon runs`],
  ] as const;
  return all.filter(([ids]) => ids.length > 0).map(([, why]) => paint(screen, 'yellow', `Not on the branch, ${why}`));
}
