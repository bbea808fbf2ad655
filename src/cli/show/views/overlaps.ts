import { overlapRows } from '../../../core/overlap-view.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { taskName } from '../words.ts';

/** As many as a person reads; `--json` has the others. */
const ROWS = 30;

/** The files that several members changed, by member; empty if there are none. */
export function showOverlaps(overlaps: NonNullable<ResultOf<'work.show'>['overlaps']> = [], screen: Screen): string {
  if (overlaps.length === 0) return '';
  const tasks = new Map(overlaps.flatMap(({ sides }) => sides.map(({ memberId, taskId }) => [memberId, taskId])));
  const members = [...tasks.keys()].sort((a, b) => Number(tasks.get(a)) - Number(tasks.get(b)));
  const all = overlapRows(overlaps);
  const rows = all.slice(0, ROWS).map(({ path, members: who, conflicting }): Cell[] => [
    path,
    ...members.map((id): Cell => {
      if (conflicting.includes(id)) return { text: 'conflicts', short: '✗', style: 'red' };
      return who.includes(id) ? { text: 'changed', short: '●', style: 'yellow' } : '';
    }),
  ]);
  const columns = [
    { title: 'CHANGED BY SEVERAL', flexible: true, keeps: 'end' } as const,
    ...members.map((id) => ({ title: `${id} ${taskName(tasks.get(id) ?? '')}` })),
  ];
  const unnamed = overlaps.reduce((sum, { files, paths }) => sum + files - paths.length, 0);
  const left = all.length - Math.min(all.length, ROWS) + unnamed;
  return `\n${table(columns, rows, screen)}${left > 0 ? `and ${left} more\n` : ''}`;
}
