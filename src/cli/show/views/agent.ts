import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { pairs, table } from '../table.ts';
import type { Cell } from '../table.ts';
import { paintedWidth } from '../text.ts';
import { paragraph } from './details.ts';
import type { Views } from './views.ts';

type Agents = ResultOf<'agent.list'>;

export const views: Views = {
  'agent.list': (agents, screen) => {
    const here = agents.filter(({ program, path }) => program === '' || path !== undefined);
    const away = agents.filter((agent) => !here.includes(agent));
    const legend = LEGEND.map((line) => paragraph(line, screen)).join('');
    return `${showHere(here, screen)}${legend}${showAway(away, screen)}`;
  },
};

const ABILITIES = ['STEER', 'INTERRUPT', 'RESUME', 'MAIL', 'USAGE', 'ASKS'] as const;
const TITLES = ['AGENT', 'HERE', ...ABILITIES, 'COST', 'PLAN', 'DELEGATE', 'KNOWN'] as const;

/** A table if it fits completely, else a text beside each name, because people would not notice a missing column. */
function showHere(agents: Agents, screen: Screen): string {
  const columns = TITLES.map((title) => ({ title }));
  const whole = table(columns, agents.map(rowOf), { ...screen, columns: Infinity });
  const width = Math.max(...whole.split('\n').map(paintedWidth));
  if (width <= screen.columns) return whole;
  return pairs([{ title: 'AGENT' }, { title: 'WHAT IT CAN DO' }], agents.map(lineOf), screen);
}

/** Agents that are not installed: only how to install them matters. */
function showAway(agents: Agents, screen: Screen): string {
  if (agents.length === 0) return '';
  const rows = agents.map(({ name, install }): Cell[] => [name, install]);
  return `\n${pairs([{ title: 'NOT INSTALLED' }, { title: 'HOW TO INSTALL' }], rows, screen)}`;
}

/** Explains the titles of the table. */
const LEGEND = [
  '',
  'STEER: a message reaches a running turn. INTERRUPT: a turn can be ended. RESUME: a session continues after a restart. MAIL: mail alone starts a turn.',
  'USAGE: it reports its tokens. COST: reported, or computed from tokens. ASKS: it asks before it acts. KNOWN: how we know all this.',
  'PLAN, DELEGATE: changes are impossible (enforced), refused when it asks, or only forbidden by its prompt.',
];

function rowOf(agent: Agents[number]): Cell[] {
  const can = abilitiesOf(agent);
  const { here, cost, plan, delegate, known } = factsOf(agent);
  const marks = ABILITIES.map((one): Cell =>
    can.has(one) ? { text: 'yes', style: 'green' } : { text: '-', style: 'dim' },
  );
  return [agent.name, here, ...marks, cost, plan, delegate, known];
}

function lineOf(agent: Agents[number]): Cell[] {
  const { here, cost, plan, delegate, known } = factsOf(agent);
  const costs = cost === '-' ? [] : [`COST ${cost}`];
  const can = [...abilitiesOf(agent)].join(', ');
  return [agent.name, [here.text, can, ...costs, `PLAN ${plan}`, `DELEGATE ${delegate}`, `KNOWN ${known}`].join('; ')];
}

function abilitiesOf({ abilities }: Agents[number]): ReadonlySet<(typeof ABILITIES)[number]> {
  const { steer, interrupt, resume, mail, usage, permissions } = abilities;
  const can = [steer, interrupt, resume, mail, usage, permissions];
  return new Set(ABILITIES.filter((_one, at) => can[at]));
}

function factsOf({ program, version, cost, holds, known }: Agents[number]) {
  return {
    here: whichIsHere(program, version),
    cost: { reported: 'reported', tokens: 'from tokens', none: '-' }[cost],
    plan: holds.plan,
    delegate: holds.delegate,
    known: known === 'measured' ? 'by tests' : 'by its documents',
  } as const;
}

function whichIsHere(program: string, version: string | undefined): Exclude<Cell, string> {
  return program === '' ? { text: 'your own', style: 'dim' } : { text: version ?? 'yes', style: 'green' };
}
