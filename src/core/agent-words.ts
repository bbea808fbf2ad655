import type { AgentSpec } from './agent.ts';
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
