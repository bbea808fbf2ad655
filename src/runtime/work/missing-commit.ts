import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamPlace } from './team-places.ts';

/** Says which commit this machine lacks, what was tried, and what a person can do. */
export function missingCommit(
  teamId: string,
  { checkout, work }: TeamPlace,
  { want, problems }: { want: string; problems: readonly string[] },
): TeamError {
  const what =
    want === work.base
      ? `the commit ${shortId(want)} that team ${teamId} began from`
      : `commit ${shortId(want)} of team ${teamId}`;
  const how = checkout.isAbsent
    ? 'name a checkout of the repository as projects in config.yaml of the state directory, or connect a machine that has one'
    : `fetch it into ${checkout.folder}, or connect a machine that has it`;
  const tried = problems.length > 0 ? ` (${problems.join('; ')})` : '';
  return new TeamError('storage', `This machine lacks ${what}${tried}: ${how}`);
}
