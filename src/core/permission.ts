import type { AgentSpec } from './agent.ts';

/** What an agent wants to do, in the terms of a person's rules. */
export interface Wish {
  readonly tool: string;
  /** The tool's input: a command, a path, an address. */
  readonly subject: string;
}

/** Where one shell command ends and the next begins, or where redirection or substitution occurs. */
const SHELL_JOINTS = /[;&|\n`<>]|\$\(/;

/** Claude Code's tools under the general names for other agents, so that a rule in either form works for all. */
const GENERAL: Readonly<Record<string, string>> = {
  Bash: 'shell',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'edit',
  Read: 'read',
  Glob: 'search',
  Grep: 'search',
  WebSearch: 'search',
  WebFetch: 'fetch',
};

/**
 * What a person's rules say about a wish; undefined if no rule matches. Deny wins. An allow rule covers only one plain
 * command, so that `Bash(npm test*)` does not allow `npm test; rm -r x`. A deny rule applies to each part of a longer
 * command.
 */
export function judgeWish(rules: AgentSpec['permissions'], wish: Wish): 'allow' | 'deny' | undefined {
  const parts = wish.subject.split(SHELL_JOINTS).map((part) => part.trim());
  const isDenied = (rules?.deny ?? []).some((rule) =>
    [wish.subject, ...parts].some((subject) => matches(rule, { ...wish, subject })),
  );
  if (isDenied) return 'deny';
  return (rules?.allow ?? []).some((rule) => matches(rule, wish, { plainOnly: true })) ? 'allow' : undefined;
}

function matches(rule: string, { tool, subject }: Wish, { plainOnly = false } = {}): boolean {
  const [, name = '', pattern] = /^([^()]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const wanted = glob(name.trim());
  if (!namesOf(tool).some((one) => wanted.test(one))) return false;
  if (pattern === undefined || pattern === '*') return true;
  if (plainOnly && SHELL_JOINTS.test(subject)) return false;
  return glob(pattern).test(subject);
}

function namesOf(tool: string): string[] {
  const others = Object.keys(GENERAL).filter((name) => GENERAL[name] === tool);
  return [tool, ...(Object.hasOwn(GENERAL, tool) ? [GENERAL[tool] as string] : []), ...others];
}

/** `*` matches anything, all else only itself. */
function glob(pattern: string): RegExp {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`, 's');
}
