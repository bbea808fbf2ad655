import { fileURLToPath } from 'node:url';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { isAbsence } from '../reach/connect.ts';
import { askYesNo } from '../show/ask.ts';
import { Refusal } from '../show/errors.ts';
import { shortPath } from '../show/path.ts';
import { clean, fold } from '../show/text.ts';
import { showUnmerged, wordOne } from '../show/unmerged.ts';
import type { Unmerged } from '../show/unmerged.ts';
import { print, toJson, warn } from '../show/write.ts';
import { killAll } from './stop-all.ts';
import { stopDaemon } from './stop.ts';
import { findLoss } from './uninstall/loss.ts';
import { findMade } from './uninstall/made.ts';
import type { Made, Stays } from './uninstall/made.ts';
import { wordPackage } from './uninstall/package.ts';

/** The package's folder; equally far from `src/cli/commands` and its place in `dist`. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

interface Flags {
  readonly yes?: boolean;
  readonly force?: boolean;
  readonly 'dry-run'?: boolean;
}

/** What there is to remove, and what would be lost with it. */
interface Plan {
  readonly made: readonly Made[];
  readonly stays: readonly Stays[];
  readonly unmerged: readonly Unmerged[];
}

/** Removes what Troupe made on this machine. It asks first; repositories and packages stay. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { yes = false, force = false, 'dry-run': isDry = false } = given.input as Flags;
  requirePerson(environment);
  const home = findHome(environment);
  const found = await findMade(home, environment);
  const hasState = found.made.some(({ kind }) => kind === 'state');
  const plan: Plan = { ...found, unmerged: hasState ? await findLoss(home, environment, signal) : [] };
  const say = (text: string): void => (given.json ? undefined : print(fold(text, screen)));
  say(describe(plan, environment));
  if (!isDry && plan.made.length > 0) {
    if (plan.unmerged.length > 0 && !force) throw new Refusal('conflict', refusal(plan, given.json));
    await confirm(plan, { yes, json: given.json, signal });
    await remove(plan, { home, environment, force, signal });
    say('Removed.\n');
  }
  const next = wordPackage(ROOT, environment);
  if (given.json) print(toJson(toResult(plan, { isDry, next }), screen.isTerminal ? 2 : undefined));
  else say(`To remove the package itself: ${next}\n`);
  return 0;
}

/** Members run with the rights of their user, but this is not theirs to do. */
function requirePerson(environment: NodeJS.ProcessEnv): void {
  const mark = ['TROUPE_TOKEN', 'TROUPE_TOKEN_FILE', 'TROUPE_PROCESS'].find((name) => environment[name]);
  if (mark === undefined) return;
  throw new Refusal('not_allowed', `Only a person uninstalls Troupe, and ${mark} says that a member is calling`);
}

interface Asked {
  readonly yes: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

async function confirm({ made }: Plan, { yes, json, signal }: Asked): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    // Programs got no list yet.
    const what = json ? made.map(({ path }) => path).join(', ') : 'all this';
    throw new Refusal('invalid', `This would remove ${what} permanently: say so with --yes`);
  }
  if (!(await askYesNo('Remove all this permanently?', signal))) {
    throw new Refusal('conflict', 'Nothing was removed');
  }
}

/** Services go first: they would start the daemon again. The state goes when nothing uses it any more. */
async function remove(
  { made }: Plan,
  { home, environment, force, signal }: { home: Home; force: boolean } & Pick<Surroundings, 'environment' | 'signal'>,
): Promise<void> {
  for (const one of made) if (one.kind === 'service') one.remove();
  if (made.some(({ kind }) => kind === 'state')) await end(home, { environment, force, signal });
  for (const one of made) if (one.kind !== 'service') one.remove();
}

async function end(
  home: Home,
  { environment, force, signal }: { force: boolean } & Pick<Surroundings, 'environment' | 'signal'>,
): Promise<void> {
  try {
    await stopDaemon(environment, false, signal);
  } catch (error) {
    if (signal.aborted || !(isAbsence(error) || force)) throw error;
    if (!isAbsence(error)) warn(`troupe: The daemon did not stop and is killed: ${clean((error as Error).message)}\n`);
    // A daemon that was killed left its members running.
    await killAll(home);
  }
}

/** People have just seen the list. */
function refusal({ unmerged }: Plan, json: boolean): string {
  const what = json ? `:\n${unmerged.map((one) => `  ${wordOne(one)}`).join('\n')}\n` : '. ';
  return `Nothing was removed: work that was never merged would be lost${what}Save what you want to keep, then give up the rest with --force`;
}

const TITLES = { state: 'state', settings: 'settings', service: 'service', completion: 'completion' } as const;

function describe({ made, stays, unmerged }: Plan, environment: NodeJS.ProcessEnv): string {
  const row = (left: string, path: string, about: string): string =>
    `  ${left.padEnd(10)}  ${clean(shortPath(path, environment))} (${clean(about)})\n`;
  const parts = [
    made.length === 0
      ? 'Troupe has made nothing on this machine that is still there.\n'
      : `Troupe made on this machine:\n${made.map(({ kind, path, about }) => row(TITLES[kind], path, about)).join('')}`,
    stays.length === 0 ? '' : `Stays:\n${stays.map(({ path, why }) => row('', path, why)).join('')}`,
    unmerged.length === 0 ? '' : showUnmerged(unmerged),
  ];
  return parts.join('');
}

function toResult({ made, stays, unmerged }: Plan, { isDry, next }: { isDry: boolean; next: string }) {
  const found = made.map(({ kind, path }) => ({ kind, path }));
  return {
    removed: isDry ? [] : found,
    ...(isDry && { found }),
    stays,
    unmerged: unmerged.map(wordOne),
    package: next,
  };
}
