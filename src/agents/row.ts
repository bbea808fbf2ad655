import type { AgentKind } from '../core/agent.ts';
import type { Abilities } from './agent.ts';

/**
 * How a mode that forbids changes holds: the agent cannot do otherwise (`enforced`), it asks and is refused (`refused`), or
 * it is only asked to (`asked`), because it runs what its own author wrote.
 */
export type Hold = 'enforced' | 'refused' | 'asked';

/** What is known of an agent before one is started. The one place for it: drivers, commands and documents read it here. */
export interface AgentRow {
  readonly title: string;
  readonly kind: AgentKind;
  /** The program that is looked for on the path. */
  readonly program: string;
  /** How to get it, for those who lack it. */
  readonly install: string;
  readonly abilities: Abilities;
  /** Money is told by the agent itself, worked out from tokens and a table of prices, or not known. */
  readonly cost: 'reported' | 'tokens' | 'none';
  readonly holds: { readonly plan: Hold; readonly delegate: Hold };
  /** Our own tests run the real program, or its documents say so. */
  readonly known: 'measured' | 'documented';
  /** Whether it can be the lead of a team. */
  readonly canLead: boolean;
  /** The agent that runs the same program in the usual way; nobody gets this one without asking for it. */
  readonly variantOf?: string;
  /** Programs that it needs besides its own, and what to do without one. */
  readonly needs?: readonly { readonly program: string; readonly next: string }[];
  /** The first and the last version that was measured, where others may behave differently. */
  readonly versions?: readonly [first: string, last: string];
  /** The variables of its provider that it is given; `*` at the end stands for anything. */
  readonly env: readonly string[];
  /** More of them when another variable says that this cloud is its provider: its keys go nowhere else. */
  readonly clouds?: readonly { readonly chosenBy: string; readonly env: readonly string[] }[];
  /** Never these, though they are named like the others: they belong to the session that started us. */
  readonly foreign?: readonly string[];
}
