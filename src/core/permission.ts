import type { AgentSpec } from './agent.ts';

/** What an agent wants to do, as the rules of a person see it. */
export interface Wish {
  readonly tool: string;
  /** What the tool is given: a command, a path, an address. */
  readonly subject: string;
}

/** Where one shell command ends and the next begins, or where something else than its words takes part. */
const SHELL_JOINTS = /[;&|\n`<>]|\$\(/;

/** The tools of Claude Code in the words of all other agents, so that a rule in either holds for everybody. */
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
 * What the rules of a person say about a wish; undefined where none is about it. Deny wins. A rule that allows covers one
 * plain command only, so that `Bash(npm test*)` does not let `npm test; rm -r x` through; one that denies holds for each
 * part of a longer command.
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

/** `*` stands for anything, all else for itself. */
function glob(pattern: string): RegExp {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`, 's');
}
