/** Stands for the name of an agent: the user's own program. */
export const PROGRAM = '@program';

/** An agent of a new team. */
export interface WantedAgent {
  /** Its name, or `PROGRAM`. */
  readonly agent: string;
  readonly model: string;
  readonly mode: '' | 'plan' | 'edit' | 'full';
  /** The shell command of a program. */
  readonly program: string;
}

/** What a person wants of a new team. */
export interface WantedTeam {
  readonly name: string;
  readonly goal: string;
  readonly lead: WantedAgent;
  readonly members: readonly WantedAgent[];
  /** US dollars; none if empty. */
  readonly budget: string;
  readonly workspaces: '' | 'own' | 'shared';
}

/** The team file that says the same. Texts are quoted as in JSON, which is YAML too. */
export function sourceOf(wanted: WantedTeam): string {
  const { goal, lead, members, budget, workspaces } = wanted;
  const names = members.map((member, i) => {
    const before = members.slice(0, i).filter((other) => other.agent === member.agent).length;
    const name = member.agent === PROGRAM ? 'worker' : member.agent;
    return before === 0 ? name : `${name}-${before + 1}`;
  });
  const named = (members.length > 0 ? members : [lead]).filter(({ agent }) => agent !== PROGRAM);
  const kinds = [...new Set(named.map(({ agent }) => agent))];
  const lines = [
    `team: ${quote(nameOf(wanted))}`,
    `description: ${quote(goal.trim().split('\n', 1)[0] ?? '')}`,
    'lead:',
    ...setup(lead, '  '),
    `  prompt: ${quote(goal.trim())}`,
    ...(kinds.length > 0 ? ['# The lead may start more of these.', 'agents:'] : []),
    ...kinds.map((kind) => `  ${kind}: ${lead.mode === '' ? '{}' : `{ mode: ${lead.mode} }`}`),
    ...(members.length > 0 ? ['members:'] : []),
    ...members.flatMap((member, i) => [`  - name: ${quote(names[i] ?? '')}`, ...setup(member, '    ')]),
    ...(budget.trim() === '' ? [] : ['budget:', `  usd: ${budget.trim()}`]),
    ...(workspaces === '' ? [] : ['work:', `  workspaces: ${workspaces}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The name that was given, or one made from the goal that no team has yet. */
export function nameOf(
  { name, goal }: Pick<WantedTeam, 'name' | 'goal'>,
  taken: ReadonlySet<string> = new Set(),
): string {
  if (name.trim() !== '') return name.trim();
  const words = goal.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const made = words.slice(0, 5).join('-').slice(0, 40).replace(/-+$/, '') || 'team';
  for (let i = 1; ; i++) {
    const free = i === 1 ? made : `${made}-${i}`;
    if (!taken.has(free)) return free;
  }
}

/** What is wrong with a budget as it was typed; undefined if nothing is. */
export function problemOfBudget(budget: string): string | undefined {
  const text = budget.trim();
  if (text === '' || (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) > 0)) return undefined;
  return 'A budget is a number of US dollars above 0, such as 5 or 2.50.';
}

function setup({ agent, model, mode, program }: WantedAgent, indent: string): string[] {
  if (agent === PROGRAM) return [`${indent}agent: { exec: ${quote(program)} }`];
  return [
    `${indent}agent: ${agent}`,
    ...(model.trim() === '' ? [] : [`${indent}model: ${quote(model.trim())}`]),
    ...(mode === '' ? [] : [`${indent}mode: ${mode}`]),
  ];
}

function quote(text: string): string {
  return JSON.stringify(text);
}
