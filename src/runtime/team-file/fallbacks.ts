import { explainUnknown, findAgent, NAMELESS } from '../../agents/catalog.ts';
import { catalogNameOf } from '../../core/agent-kinds.ts';
import type { AgentSpec } from '../../core/agent.ts';
import { TeamError } from '../../core/errors.ts';
import { requireFallbacks } from '../../core/limit-policy.ts';
import type { OnLimit } from '../../core/on-limit.ts';
import type { Path, Problem } from '../yaml-problems.ts';
import { rightsIn, specOf } from './agents.ts';
import { agentsOf } from './file-agents.ts';
import type { FileAgent } from './file-agents.ts';
import { TeamFile } from './schema.ts';

type Entry = FileAgent['entry'];

/** Every agent that a file may start: those of its members, and those that may stand in for them. */
export function startedOf(file: TeamFile, folder: string): FileAgent[] {
  const agents = agentsOf(file, folder);
  const fallbacks = agents.flatMap(({ entry, path, cwd }) =>
    fallbacksOf(file, entry).map(({ agent: spec, at }) => ({ spec, cwd, entry, path, place: at(path) })),
  );
  return [...agents, ...fallbacks];
}

/** What a file says about the limit of a member's account, or (without a member) of all. */
export function onLimitIn(file: TeamFile, entry?: Entry): OnLimit | undefined {
  const said = entry?.onLimit ?? file.onLimit;
  if (said === undefined) return undefined;
  const policy = typeof said === 'string' ? said : 'ask' in said ? 'ask' : 'fallback';
  return { policy, agents: fallbacksOf(file, entry).map(({ name, agent }) => ({ name, agent })) };
}

/** Fallbacks that are unknown, or cannot do what their member does. Found only in a file that has no other problems. */
export function findBadFallbacks(raw: unknown, misfits: readonly Problem[]): Problem[] {
  const file = misfits.length > 0 ? undefined : TeamFile.safeParse(raw).data;
  if (!file) return [];
  const found = new Map<string, Problem>();
  const members = agentsOf(file, '/').map(({ entry, path }) => ({ entry, path }));
  for (const { entry, path } of [...members, { entry: undefined, path: [] as Path }]) {
    for (const { name, agent, at } of fallbacksOf(file, entry)) {
      const text = whyUnknown(file, name) ?? whyUnfit(name, agent, needsOf(entry, path));
      if (text !== undefined) found.set(at(path).join('/'), { path: at(path), isKey: false, text });
    }
  }
  return [...found.values()];
}

interface FileFallback {
  readonly name: string;
  readonly agent: AgentSpec;
  /** Its position, given that of the member. */
  readonly at: (member: Path) => Path;
}

function fallbacksOf(file: TeamFile, entry: Entry | undefined): FileFallback[] {
  const said = entry?.onLimit ?? file.onLimit;
  if (typeof said !== 'object') return [];
  const [key, names] = 'ask' in said ? (['ask', said.ask] as const) : (['fallback', said.fallback] as const);
  return names.map((name, i) => ({
    name,
    // What it may do without asking belongs to the member; the program, its login and its model do not.
    agent: specOf({ ...(entry && rightsIn(file, entry)), agent: entryNamed(file, name) ?? name }, file.agents),
    at: (member) => [...(entry?.onLimit === undefined ? [] : member), 'onLimit', key, i],
  }));
}

/** The entry of `agents` that a name means: its own, or that of a login. */
function entryNamed({ agents = {} }: TeamFile, name: string): string | undefined {
  if (Object.hasOwn(agents, name)) return name;
  const [kind, account] = name.split('@', 2);
  if (account === undefined) return undefined;
  return Object.keys(agents).find((one) => (agents[one]?.agent ?? one) === kind && agents[one]?.account === account);
}

function whyUnknown(file: TeamFile, name: string): string | undefined {
  if (entryNamed(file, name) !== undefined) return undefined;
  const [kind = name, account] = name.split('@', 2);
  const unknown = explainUnknown(kind);
  if (unknown !== undefined) return `${unknown.slice(0, 1).toLowerCase()}${unknown.slice(1)}`;
  if (account === undefined) return undefined;
  const { variable } = findAgent(kind)?.login?.folder ?? { variable: 'HOME' };
  const example = `${account}: { agent: ${kind}, account: ${account}, env: { ${variable}: … } }`;
  return `no agent of this file is ${kind} with the account ${account}: add agents: { ${example} }`;
}

/** What a member does that not every agent can. */
interface Needs {
  readonly leads: boolean;
  readonly plans: boolean;
  readonly delegates: boolean;
}

function needsOf(entry: Entry | undefined, path: Path): Needs {
  const leads = path[0] === 'lead';
  return {
    leads,
    plans: entry?.plan === 'required',
    delegates: leads && (entry as { delegate?: boolean }).delegate === true,
  };
}

function whyUnfit(name: string, agent: AgentSpec, { leads, plans, delegates }: Needs): string | undefined {
  try {
    requireFallbacks({ policy: 'fallback', agents: [{ name, agent }] });
  } catch (error) {
    if (error instanceof TeamError) return error.message;
    throw error;
  }
  const row = findAgent(catalogNameOf(agent)) ?? NAMELESS[agent.kind];
  if (leads && !row?.abilities.mail) return `${name} cannot stand in for a lead: it reads no messages`;
  const free = plans && row?.holds.plan === 'asked' ? 'work before its plan is approved' : undefined;
  const busy = delegates && row?.holds.delegate === 'asked' ? 'doing tasks itself' : undefined;
  const unkept = free ?? busy;
  return unkept === undefined ? undefined : `${name} cannot stand in: nothing keeps it from ${unkept}`;
}
