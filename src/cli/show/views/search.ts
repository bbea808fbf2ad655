import type { ResultOf } from '../../../operations/index.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { taskName } from '../words.ts';
import type { Views } from './views.ts';

type Hit = ResultOf<'team.search'>['hits'][number];

export const views: Views = {
  'team.search': ({ hits, more, unfinished }, screen) => {
    const rows = hits.map((hit): Cell[] => [whereIs(hit), hit.teamId, textOf(hit)]);
    const columns = [{ title: 'FOUND IN' }, { title: 'TEAM', spare: 1 }, { title: 'TEXT', flexible: true }] as const;
    return (
      (rows.length > 0 ? table(columns, rows, screen) : 'Nothing was found.\n') +
      (more.length > 0 ? `There are more of these than shown: ${more.join(', ')}. Raise --limit.\n` : '') +
      (unfinished.length > 0 ? `Not searched to the end: ${unfinished.join(', ')}. Name a team with --team.\n` : '')
    );
  },
};

function whereIs({ kind, id, memberId }: Hit): string {
  if (kind === 'task') return `task ${taskName(id)}`;
  if (kind === 'message') return `message to ${memberId}`;
  if (kind === 'transcript') return `transcript of ${memberId}`;
  return kind === 'team' ? 'team' : `${kind} ${id}`;
}

/** The title, and the place of the match if that is elsewhere. */
function textOf({ kind, title, before, match, after }: Hit): string {
  const around = `${before}${match}${after}`.replaceAll(/\s+/g, ' ').trim();
  if (kind === 'transcript') return around;
  return match === '' || title.includes(match) ? title : `${title}: ${around}`;
}
