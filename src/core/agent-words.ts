import { catalogNameOf } from './agent-kinds.ts';
import type { AgentSpec } from './agent.ts';
import type { OnLimit, StandIn } from './on-limit.ts';
import { sandboxOf } from './sandbox.ts';

/** The settings of an agent that change what it can do, each with its name, in words. */
export function wordSettings({
  effort,
  mcp,
  skills,
  tools,
  sandbox,
}: AgentSpec): readonly [name: string, text: string][] {
  const words: readonly [string, string | undefined][] = [
    ['effort', effort],
    ['sandbox', wordSandbox(sandbox)],
    ['servers', listed(Object.keys(mcp ?? {}))],
    ['skills', listed(skills)],
    ['tools', [listed(tools?.allow, 'only '), listed(tools?.deny, 'without ')].filter(Boolean).join('; ') || undefined],
  ];
  return words.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as [string, string]]));
}

/** A policy in words: `fallback: codex, claude@second`. */
export function wordOnLimit({ policy, agents }: OnLimit): string {
  return agents.length === 0 ? policy : `${policy}: ${agents.map(({ name }) => name).join(', ')}`;
}

/** The agent of a member in one word, and whose place it takes: `codex (for claude)`. */
export function agentNameOf({
  agent,
  standIn,
}: {
  readonly agent?: AgentSpec | undefined;
  readonly standIn?: StandIn | undefined;
}): string {
  if (!agent) return '';
  if (!standIn) return agent.name ?? agent.kind;
  return `${standIn.name} (for ${catalogNameOf(standIn.own.agent)})`;
}

function wordSandbox(sandbox: AgentSpec['sandbox']): string | undefined {
  const settings = sandboxOf(sandbox);
  if (!settings) return undefined;
  const { network, read, write } = settings;
  const hosts = network === 'none' ? 'no network' : listed(network, 'reaches ');
  return ['yes', hosts, listed(read, 'reads '), listed(write, 'writes ')].filter(Boolean).join('; ');
}

function listed(names: readonly string[] | undefined, before = ''): string | undefined {
  return names === undefined || names.length === 0 ? undefined : `${before}${names.join(', ')}`;
}
