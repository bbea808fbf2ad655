import type { AgentKind, AgentSpec } from './agent.ts';
import { TeamError } from './errors.ts';

/** What rules need to know about a kind. */
interface KindRow {
  /** A daemon runs it, as a separate process. */
  readonly hasProcess: boolean;
  /** A user wrote it for one member, and any machine may have it. */
  readonly isOwn: boolean;
  /** People ask for it by the name of its kind. */
  readonly isNamed: boolean;
  /** Its turns are charged to an account. A program has none that we know of, and of a team its members have theirs. */
  readonly hasAccount: boolean;
  /** It is a teammate of a native team, which we lead. */
  readonly isNative?: true;
  /** It is a team. */
  readonly isTeam?: true;
}

/** How the kinds differ, for rules. Everything else is in `agents/catalog.ts`. */
const KINDS: Readonly<Record<AgentKind, KindRow>> = {
  exec: { hasProcess: true, isOwn: true, isNamed: false, hasAccount: false },
  function: { hasProcess: false, isOwn: true, isNamed: false, hasAccount: true },
  claude: { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true },
  codex: { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true },
  acp: { hasProcess: true, isOwn: false, isNamed: false, hasAccount: true },
  'claude-native': { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true, isNative: true },
  team: { hasProcess: true, isOwn: true, isNamed: false, hasAccount: false, isTeam: true },
};

/** Whether a daemon runs this agent. */
export function hasProcess({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].hasProcess;
}

/** Whether it is the user's own program or function. */
export function isOwnAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isOwn;
}

/** Whether its turns are charged to an account. */
export function hasAccount({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].hasAccount;
}

/** Whether it is a teammate of a native team, which we lead. */
export function isNativeAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isNative === true;
}

/** Whether it is a team of its own. */
export function isTeamAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isTeam === true;
}

/** Refuses a team without the texts of its files: only `troupe up` reads those. */
export function requireTeamFile(agent: Pick<AgentSpec, 'kind' | 'team'> | undefined): void {
  if (!agent || !isTeamAgent(agent) || agent.team) return;
  throw new TeamError(
    'invalid',
    'Only a team file can make a member a team: add agent: { team: ./review/troupe.yaml } there, and run troupe up',
  );
}

/** An agent by its name: one with its own adapter, else an ACP agent. `claude@second` also names its login. */
export function agentNamed(text: string): AgentSpec {
  const [name = '', account] = text.split('@', 2);
  const own = Object.hasOwn(KINDS, name) && KINDS[name as AgentKind].isNamed ? (name as AgentKind) : undefined;
  const spec: AgentSpec = own ? { kind: own } : { kind: 'acp', name };
  return account === undefined ? spec : { ...spec, account };
}

/** An agent's name in the catalog: `claude` for Claude Code, the own name of an ACP agent. */
export function catalogNameOf({ kind, name }: Pick<AgentSpec, 'kind' | 'name'>): string {
  return kind === 'acp' ? (name ?? kind) : kind;
}
