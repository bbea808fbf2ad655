import { SYSTEM, USER } from '../../core/actor.ts';
import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { quote } from '../../core/text.ts';
import { isStale } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TeamPlace } from './team-places.ts';
import type { Travel } from './travel.ts';

/** What moving a tip needs. */
interface Moving {
  readonly ledger: Ledger;
  readonly travel: Travel | undefined;
}

/** What a person wants to take in. */
export interface Taken {
  /** A branch, a tag or a commit of the checkout; by default its branch of the team's name. */
  readonly what?: string | undefined;
  /** Also if commits of the branch are not in it. */
  readonly rewrite: boolean;
}

/** What became of it. */
export interface TakenTip {
  readonly from: string;
  readonly to: string;
  readonly isMoved: boolean;
  readonly isRewritten: boolean;
  /** How many commits came. */
  readonly commits: number;
  /** Nothing was named and nothing came, but the HEAD of the checkout has commits that the branch lacks. */
  readonly ahead?: { readonly commits: number; readonly isOnTop: boolean };
}

/** Takes commits of a person into the team's branch. They are not judged: the person is the judge. */
export async function takeTip(
  moving: Moving,
  teamId: string,
  { place, what, rewrite }: Taken & { readonly place: TeamPlace },
): Promise<TakenTip> {
  const { depot, work, checkout } = place;
  if (checkout.isAbsent) {
    throw new TeamError('conflict', `This machine has no checkout of the repository of team ${teamId}`);
  }
  await depot.take(checkout);
  const to = await findCommit(place, what ?? work.branch);
  const from = work.tip;
  const about = { from, to, commits: await countNew(place, to) };
  const isBehind = await depot.descends(from, to);
  if (from === to || (isBehind && !rewrite)) {
    const ahead = what === undefined ? await findAhead(place) : undefined;
    return { ...about, isMoved: false, isRewritten: false, ...(ahead && { ahead }) };
  }
  const isRewritten = isBehind || !(await depot.descends(to, from));
  if (isRewritten && !rewrite) throw divergedError(teamId, place, { to, what });
  await moveTip(moving, teamId, { place, to, isRewritten });
  return { ...about, isMoved: true, isRewritten };
}

/** How many commits the branch lacks of this one's history. */
async function countNew({ depot, work }: TeamPlace, commit: string): Promise<number> {
  const { out } = await depot.handle.run(['rev-list', '--count', commit, `^${work.tip}`]);
  return Number(out.toString());
}

/** What the HEAD of the checkout has and the branch lacks: people often commit on their own branch. */
export async function findAhead(place: TeamPlace): Promise<TakenTip['ahead']> {
  const { depot, work } = place;
  const head = await depot.handle.readRef('refs/checkout/HEAD^{commit}');
  const commits = head === undefined ? 0 : await countNew(place, head);
  if (head === undefined || commits === 0) return undefined;
  return { commits, isOnTop: await depot.descends(head, work.tip) };
}

/** Records that the branch is at another commit. A ref keeps commits that are no longer on it. */
export async function moveTip(
  { ledger, travel }: Moving,
  teamId: string,
  { place, to, isRewritten }: { readonly place: TeamPlace; readonly to: string; readonly isRewritten: boolean },
): Promise<void> {
  const { depot, work } = place;
  const { tip: from, base } = work;
  const isFromBase = await depot.descends(to, base);
  const shared = isFromBase ? 0 : (await depot.handle.run(['merge-base', to, base], { exits: [0, 1] })).code;
  if (shared !== 0) {
    throw new TeamError('invalid', `Commit ${shortId(to)} has no history in common with ${work.branch}`);
  }
  if (isRewritten) await depot.handle.changeRefs([{ ref: keptRef(teamId), to: from }]);
  const pack = await travel?.sendMerged(teamId, place, { onto: from, merged: to });
  const more = {
    ...(isRewritten && { rewritten: true as const }),
    ...(!isFromBase && { base: to }),
    ...(pack && { pack }),
  };
  await ledger.execute(teamId, { type: 'tip.move', by: USER, from, to, ...more }, () => undefined);
}

/**
 * Somebody else than Troupe moved the ref of the branch. Commits on top of the tip are taken in. Anything else is put
 * back and kept, and a person decides: work that landed must not go without a word.
 */
export async function followMove(moving: Moving, teamId: string, place: TeamPlace, now: string): Promise<void> {
  const { depot, work } = place;
  try {
    if (await depot.descends(now, work.tip)) {
      await moveTip(moving, teamId, { place, to: now, isRewritten: false });
      return;
    }
    const ref = keptRef(teamId);
    await depot.handle.changeRefs([{ ref, to: now }]);
    const refuse = { type: 'tip.refuse', by: SYSTEM, commit: now, ref } as const;
    await moving.ledger.execute(teamId, refuse, () => undefined);
  } catch (error) {
    // The branch went on meanwhile: the next look decides. A closed team has its branch as it was.
    if (!isStale(error) && !(error instanceof TeamError && error.code === 'team_closed')) throw error;
  }
}

/** With the branches of deleted teams: `troupe work clean` lists them. */
function keptRef(teamId: string): string {
  return `refs/deleted/${teamId}/${Date.now()}`;
}

async function findCommit({ depot, checkout }: TeamPlace, what: string): Promise<string> {
  const isId = /^[0-9a-f]{7,64}$/.test(what);
  const names = ['heads', 'tags'].map((kind) => `refs/checkout/${kind}/${what}`);
  for (const name of what === 'HEAD' ? ['refs/checkout/HEAD'] : [...names, ...(isId ? [what] : [])]) {
    const found = await depot.handle.readRef(`${name}^{commit}`);
    if (found !== undefined) return found;
  }
  throw new TeamError(
    'not_found',
    `${checkout.folder} has no branch, tag or commit ${quote(what)}: name what to take, such as HEAD`,
  );
}

function divergedError(
  teamId: string,
  { depot, work }: TeamPlace,
  { to, what }: { readonly to: string; readonly what: string | undefined },
): TeamError {
  const { branch, base, tip } = work;
  // Without landed work, `troupe merge` has nothing to merge.
  const isMergeable = what === 'HEAD' && tip !== base;
  const merge = isMergeable
    ? `troupe merge --team ${teamId}. Then take it: troupe work take HEAD --team ${teamId}`
    : `git fetch ${depot.dir} ${branch} && git merge FETCH_HEAD`;
  return new TeamError(
    'conflict',
    `Commit ${shortId(to)} does not descend from ${shortId(tip)}, the last commit of ${branch}, so work that landed would be missing. ` +
      `To have both, merge first: ${merge}`,
    { facts: { option: { field: 'rewrite', effect: 'replace the commits of the branch' } } },
  );
}
