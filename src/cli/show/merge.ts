import { shortId } from '../../core/commit-id.ts';
import type { ResultOf } from '../../operations/index.ts';
import { clean } from './text.ts';
import { sizeOf } from './work-size.ts';

/** What a merge of a team's branch led to. */
export function wordMerge(outcome: ResultOf<'work.merge'>): string {
  const { team, branch, into = 'the detached HEAD', base, tip, merged } = outcome;
  if (merged) {
    return `Merged ${clean(branch)} into ${clean(into)}: ${sizeOf(outcome)}, ${shortId(base)}..${shortId(tip)}.`;
  }
  if (base === tip) return `Nothing has landed on ${clean(branch)} yet: troupe work --team ${clean(team)}`;
  return `${clean(into)} has all of ${clean(branch)} already.`;
}
