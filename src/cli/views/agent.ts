import type { ResultOf } from '../../operations/index.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import type { Views } from './views.ts';

type Agents = ResultOf<'agent.list'>;

export const views: Views = {
  'agent.list': (agents, screen) => {
    const columns = [
      'agent',
      'here',
      'steer',
      'interrupt',
      'resume',
      'mail',
      'usage',
      'cost',
      'asks',
      'plan',
      'delegate',
      'known',
    ];
    const rows = agents.map(rowOf);
    return `${table(
      columns.map((title) => ({ title })),
      rows,
      screen,
    )}${LEGEND}`;
  },
};

/** The words of the table that do not explain themselves. */
const LEGEND = `
steer: a message reaches a running turn; asks: it asks before it acts; cost: told by the agent, or worked out from tokens.
plan, delegate: changes are impossible (enforced), asked for and refused, or only asked not to be made.
To get one: troupe agents --json says how (install).
`;

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
