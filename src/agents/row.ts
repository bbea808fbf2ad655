import type { AgentExtras, AgentKind } from '../core/agent.ts';
import type { Abilities } from './agent.ts';

/**
 * How a mode that forbids changes is kept. The agent cannot do otherwise (`enforced`). It asks and is refused
 * (`refused`). Or it is only told (`asked`), because it runs its author's own code.
 */
export type Hold = 'enforced' | 'refused' | 'asked';

/** How an agent logs in. Agents with the same name here use the same logins. */
export interface Login {
  readonly name: string;
  /** Variables that replace or redirect the stored login. */
  readonly keys: readonly string[];
  /** The folder of the stored login: the variable that names it, and where it is otherwise, below the home directory. */
  readonly folder: { readonly variable: string; readonly fallback: string };
  /** The files below that folder that a login leaves; `isAll`: without one of them or a variable, there is none. */
  readonly stored: { readonly files: readonly string[]; readonly isAll: boolean };
  /** The command with which a person logs in. */
  readonly command: string;
  /** The usual hosts of its model and of the login itself. A sandbox lets its agent reach these. */
  readonly hosts: readonly string[];
  /**
   * What its agent has in a sandbox. It writes these below that folder (`.`: all of it), apart from its settings, which
   * name programs. It reads these below the home directory.
   */
  readonly keeps: {
    readonly write: readonly string[];
    readonly settings: readonly string[];
    readonly read?: readonly string[];
  };
}

/** Which extras an agent takes: any (true), only these values, or none, for this reason. */
export type Takes = Readonly<Record<keyof AgentExtras, true | readonly string[] | { readonly not: string }>>;

/** What is known of an agent before one is started. Adapters, commands and documents all read it here. */
export interface AgentRow {
  readonly title: string;
  readonly kind: AgentKind;
  /** The program to find on the path. */
  readonly program: string;
  /** Who makes its models, by OpenTelemetry's names; its own name if unset. */
  readonly provider?: string;
  /** How to install it, for users without it. */
  readonly install: string;
  readonly abilities: Abilities;
  /** The cost is reported by the agent, computed from tokens and a price table, or unknown. */
  readonly cost: 'reported' | 'tokens' | 'none';
  readonly holds: { readonly plan: Hold; readonly delegate: Hold };
  /** Which extras of a member it takes. */
  readonly takes: Takes;
  /** Our own tests run the real program, or only its documentation says so. */
  readonly known: 'measured' | 'documented';
  /** The agent that runs the same program in the usual way; this one is used only on request. */
  readonly variantOf?: string;
  /** It is Claude Code, however it is run. Native teammates are Claude Code without being told. */
  readonly isClaudeCode?: true;
  /** Other programs that it needs, and what to do without one. */
  readonly needs?: readonly { readonly program: string; readonly next: string }[];
  /** The first and the last measured version, if others may behave differently. */
  readonly versions?: readonly [first: string, last: string];
  /** Files of a checkout by which it runs programs without asking: its hooks, servers of tools, plug-ins. */
  readonly obeys?: readonly string[];
  /** The variables of its provider that it gets; `*` at the end matches anything. */
  readonly env: readonly string[];
  /** Further variables if another variable chooses this cloud as the provider: its keys go nowhere else. */
  readonly clouds?: readonly { readonly chosenBy: string; readonly env: readonly string[] }[];
  /** Its commands run in a sandbox of its own, which cannot be made inside of another; only mode `full` has none. */
  readonly boxesCommands?: true;
  /** How it logs in, if known. */
  readonly login?: Login;
  /** Never these, despite their names: they belong to the session that started us. */
  readonly foreign?: readonly string[];
}
