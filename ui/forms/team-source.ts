/** An agent of a new team. */
export interface WantedAgent {
  readonly agent: string;
  readonly model: string;
  readonly mode: string;
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
  const names = members.map(({ agent }, i) => {
    const before = members.slice(0, i).filter((other) => other.agent === agent).length;
    return before === 0 ? agent : `${agent}-${before + 1}`;
  });
  const kinds = [...new Set((members.length > 0 ? members : [lead]).map(({ agent }) => agent))];
  const lines = [
    `team: ${quote(nameOf(wanted))}`,
    `description: ${quote(goal.trim().split('\n', 1)[0] ?? '')}`,
    'lead:',
    ...setup(lead, '  '),
    `  prompt: ${quote(goal.trim())}`,
    '# The lead may start more of these.',
    'agents:',
    ...kinds.map((kind) => `  ${kind}: ${lead.mode === '' ? '{}' : `{ mode: ${lead.mode} }`}`),
    ...(members.length > 0 ? ['members:'] : []),
    ...members.flatMap((member, i) => [`  - name: ${quote(names[i] ?? '')}`, ...setup(member, '    ')]),
    ...(budget.trim() === '' ? [] : ['budget:', `  usd: ${budget.trim()}`]),
    ...(workspaces === '' ? [] : ['work:', `  workspaces: ${workspaces}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The name that was given, or one made from the goal. */
export function nameOf({ name, goal }: Pick<WantedTeam, 'name' | 'goal'>): string {
  if (name.trim() !== '') return name.trim();
  const words = goal.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, 5).join('-').slice(0, 40).replace(/-+$/, '') || 'team';
}

function setup({ agent, model, mode }: WantedAgent, indent: string): string[] {
  return [
    `${indent}agent: ${agent}`,
    ...(model.trim() === '' ? [] : [`${indent}model: ${quote(model.trim())}`]),
    ...(mode === '' ? [] : [`${indent}mode: ${mode}`]),
  ];
}

function quote(text: string): string {
  return JSON.stringify(text);
}
