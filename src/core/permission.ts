import type { AgentSpec } from './agent.ts';

/** What an agent wants to do, as the rules of a person see it. */
export interface Wish {
  readonly tool: string;
  /** What the tool is given: a command, a path, an address. */
  readonly subject: string;
}

/** Where one shell command ends and the next begins, or where something else than its words takes part. */
const SHELL_JOINTS = /[;&|\n`<>]|\$\(/;

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
  if (!glob(name.trim()).test(tool)) return false;
  if (pattern === undefined || pattern === '*') return true;
  if (plainOnly && SHELL_JOINTS.test(subject)) return false;
  return glob(pattern).test(subject);
}

/** `*` stands for anything, all else for itself. */
function glob(pattern: string): RegExp {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`, 's');
}
