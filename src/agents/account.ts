import { createHash, createHmac } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { catalogNameOf, hasAccount } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { suggestSlug } from '../core/fields.ts';
import { findAgent } from './catalog.ts';
import type { Login } from './row.ts';
import { findUserHome } from './user-home.ts';

/** Where an account is used. */
interface Surroundings {
  readonly memberId: string;
  /** The environment of the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home directory of the daemon's user: a login there has no name of its own. */
  readonly home: string;
  /** The machine, if several share the journal: only a login with a given name is the same on all of them. */
  readonly machine?: string | undefined;
}

/** The host name of a daemon that shares its journal with no other. */
const ALONE = 'local';

/**
 * What the turns of an agent are charged to: its agent and its login, as `claude` or `claude@second`. A person
 * may give the name. Otherwise it is the folder that holds the login, or a fingerprint of the key in the environment.
 * Two members with the same login get the same text, in every process of a machine. Undefined for an agent without an
 * account.
 */
export function accountOf(spec: AgentSpec, { memberId, env, home, machine }: Surroundings): string | undefined {
  if (!hasAccount(spec)) return undefined;
  const name = catalogNameOf(spec);
  const login = findAgent(name)?.login;
  const kind = login?.name ?? name;
  if (spec.account !== undefined) return `${kind}@${spec.account}`;
  const where = machine === undefined || machine === ALONE ? '' : `/${machine}`;
  // A function, or an agent that Troupe does not know: its members share nothing that is known.
  const own = login ? nameOf(login, env, home) : findAgent(name) ? undefined : memberId;
  return `${kind}${own === undefined ? '' : `@${own}`}${where}`;
}

function nameOf({ keys, folder, name }: Login, env: Surroundings['env'], home: string): string | undefined {
  const given = keys.flatMap((key) => (env[key] ? [`${key}=${env[key]}`] : []));
  if (given.length > 0) return `env-${fingerprintOf(given)}`;
  const used = resolve(env[folder.variable] || join(findUserHome(env), folder.fallback));
  if (used === resolve(home, folder.fallback)) return undefined;
  const said = basename(used).replace(new RegExp(`^\\.?(${name}[-_.]?)?`), '');
  const isInHome = dirname(used) === resolve(home);
  if (isInHome && said !== '') return suggestSlug(said);
  const print = createHash('sha256').update(used).digest('hex').slice(0, 6);
  return said === '' ? `at-${print}` : `${suggestSlug(said)}-${print}`;
}

/** Keyed, so that the short text cannot be looked up in a list of leaked keys. */
function fingerprintOf(given: readonly string[]): string {
  return createHmac('sha256', 'troupe account').update(given.join('\0')).digest('hex').slice(0, 6);
}
