import type { ResultOf } from '../../operations/index.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { paragraph } from './details.ts';
import type { Views } from './views.ts';

type Agents = ResultOf<'agent.list'>;

export const views: Views = {
  'agent.list': (agents, screen) => {
    // Who is there first; then what a person chooses by.
    const columns = [
      { title: 'AGENT' },
      { title: 'HERE' },
      { title: 'STEER', spare: 4 },
      { title: 'INTERRUPT', spare: 8 },
      { title: 'RESUME', spare: 6 },
      { title: 'MAIL', spare: 9 },
      { title: 'USAGE', spare: 10 },
      { title: 'COST', spare: 3 },
      { title: 'ASKS', spare: 5 },
      { title: 'PLAN', spare: 1 },
      { title: 'DELEGATE', spare: 2 },
      { title: 'KNOWN', spare: 7 },
    ];
    return `${table(columns, agents.map(rowOf), screen)}${LEGEND.map((line) => paragraph(line, screen)).join('')}`;
  },
};

/** The words of the table that do not explain themselves. */
const LEGEND = [
  '',
  'STEER: a message reaches a running turn. ASKS: it asks before it acts. COST: told by the agent, or worked out from tokens.',
  'PLAN, DELEGATE: changes are impossible (enforced), asked for and refused, or only asked not to be made.',
  'How to get one, and all there is to know: troupe agents --json.',
];

function rowOf({ name, program, path, version, abilities, cost, holds, known }: Agents[number]): Cell[] {
  const mark = (can: boolean): Cell => (can ? { text: 'yes', style: 'green' } : { text: '-', style: 'dim' });
  const { steer, interrupt, resume, mail, usage, permissions } = abilities;
  return [
    name,
    here(program, path, version),
    ...[steer, interrupt, resume, mail, usage].map(mark),
    { reported: 'told', tokens: 'from tokens', none: '-' }[cost],
    mark(permissions),
    holds.plan,
    holds.delegate,
    known === 'measured' ? 'by tests' : 'by its documents',
  ];
}

function here(program: string, path: string | undefined, version: string | undefined): Cell {
  if (program === '') return { text: 'yours to name', style: 'dim' };
  return path === undefined ? { text: 'no', style: 'dim' } : { text: version ?? 'yes', style: 'green' };
}
