import type { ResultOf } from '../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { pairs, table } from '../table.ts';
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
    const here = agents.filter(({ program, path }) => program === '' || path !== undefined);
    const away = agents.filter((agent) => !here.includes(agent));
    const legend = LEGEND.map((line) => paragraph(line, screen)).join('');
    return `${table(columns, here.map(rowOf), screen)}${legend}${showAway(away, screen)}`;
  },
};

/** What can be had: how is all that counts of what is not here. */
function showAway(agents: Agents, screen: Screen): string {
  if (agents.length === 0) return '';
  const rows = agents.map(({ name, install }): Cell[] => [name, install]);
  return `\n${pairs([{ title: 'NOT HERE' }, { title: 'HOW TO GET IT' }], rows, screen)}`;
}

/** The words of the table that do not explain themselves. */
const LEGEND = [
  '',
  'STEER: a message reaches a running turn. INTERRUPT: a turn can be ended. RESUME: a session goes on after a restart. MAIL: mail alone starts a turn.',
  'USAGE: it tells what it used. COST: told by it, or worked out from tokens. ASKS: it asks before it acts. KNOWN: how we know all this.',
  'PLAN, DELEGATE: changes are impossible (enforced), asked for and refused, or only asked not to be made.',
  'A narrow terminal shows fewer columns; all there is to know: troupe agents --json.',
];

function rowOf({ name, program, version, abilities, cost, holds, known }: Agents[number]): Cell[] {
  const mark = (can: boolean): Cell => (can ? { text: 'yes', style: 'green' } : { text: '-', style: 'dim' });
  const { steer, interrupt, resume, mail, usage, permissions } = abilities;
  return [
    name,
    whichIsHere(program, version),
    ...[steer, interrupt, resume, mail, usage].map(mark),
    { reported: 'told', tokens: 'from tokens', none: '-' }[cost],
    mark(permissions),
    holds.plan,
    holds.delegate,
    known === 'measured' ? 'by tests' : 'by its documents',
  ];
}

function whichIsHere(program: string, version: string | undefined): Cell {
  return program === '' ? { text: 'yours to name', style: 'dim' } : { text: version ?? 'yes', style: 'green' };
}
