import { UsageError } from '../errors.ts';

/** What a native lead tells a new teammate of itself. */
export interface Flags {
  readonly name: string;
  readonly team: string;
  /** It plans first, and its lead approves. */
  readonly plan: boolean;
  /** Its lead signs what it writes. */
  readonly signs: boolean;
  /** Its lead does everything without asking, and so may it. */
  readonly unasked: boolean;
}

/** Reads the words with which a native lead starts a teammate. There are more than we need, and not the same in all versions. */
export function readFlags(words: readonly string[]): Flags {
  const valueOf = (flag: string): string | undefined => {
    const at = words.indexOf(flag);
    return at === -1 ? undefined : words[at + 1];
  };
  const [name, team] = [valueOf('--agent-name'), valueOf('--team-name')];
  if (name === undefined || team === undefined) {
    throw new UsageError('This is started by Claude Code, for a teammate with --agent-name and --team-name', 'claude');
  }
  return {
    name,
    team,
    plan: words.includes('--plan-mode-required') || valueOf('--permission-mode') === 'plan',
    signs: valueOf('--lead-verify-key') !== undefined,
    unasked: words.includes('--dangerously-skip-permissions') || valueOf('--permission-mode') === 'bypassPermissions',
  };
}
