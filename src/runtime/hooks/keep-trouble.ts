import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { isTroubleKey, troubleKey } from '../../core/hook-trouble.ts';
import type { HookConfig, HookResult, HookType } from '../../core/hook.ts';
import type { Metadata } from '../../core/json.ts';
import { quote } from '../../core/text.ts';
import { requireTeam } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** A run of a hook, and its result. */
interface HookRun {
  readonly teamId: string;
  readonly type: HookType;
  readonly result: HookResult;
}

/** How much of a failure is kept, in characters: it is one entry of a list. */
const WHY_CHARS = 500;

/**
 * Records in each team which of its hooks failed and let work pass, so that all viewers of the team see it. A missing
 * gate looks like a satisfied one. Written when the trouble starts and ends, not with every task.
 */
export function keepTrouble(ledger: Ledger, onError: (error: unknown, teamId: string) => void): (run: HookRun) => void {
  const keep = async (run: HookRun): Promise<void> => {
    const { teamId } = run;
    const metadata = await ledger.view(teamId, (state) => changeFor(requireTeam(state), run));
    if (Object.keys(metadata).length === 0) return;
    await ledger.execute(teamId, { type: 'team.update', by: SYSTEM, metadata }, () => undefined);
  };
  // Serialized: of two tasks judged at once, the second sees what the first recorded.
  let last = Promise.resolve();
  return (run) => {
    const next = last.then(() => keep(run));
    last = next.catch((error: unknown) => {
      // The team was closed meanwhile or does not exist yet: nobody looks at it.
      const isOver = error instanceof TeamError && ['team_closed', 'not_found'].includes(error.code);
      if (!isOver) onError(error, run.teamId);
    });
  };
}

/**
 * The change after a run, usually none. A blocking failure goes to a person instead. A hook that the team does not have
 * is no trouble: it was removed, or it is a function.
 */
function changeFor(
  { hooks, metadata = {} }: { readonly hooks: readonly HookConfig[]; readonly metadata?: Metadata | undefined },
  { type, result }: HookRun,
): Metadata {
  const { command = '' } = result;
  const own = troubleKey(type, command);
  const keys = new Set(hooks.map((hook) => troubleKey(hook.type, hook.command)));
  const over = Object.keys(metadata).filter((key) => isTroubleKey(key) && !keys.has(key));
  const changes: Metadata = Object.fromEntries(over.map((key) => [key, null]));
  if (result.exitCode !== 1) {
    if (own in metadata) changes[own] = null;
  } else if (keys.has(own)) {
    const why = describeFailure(type, result);
    if (metadata[own] !== why) changes[own] = why;
  }
  return changes;
}

function describeFailure(type: HookType, { command = '', unable, timedOut, code }: HookResult): string {
  const how = timedOut ? 'did not answer in time' : `failed${code === undefined ? '' : ` with exit code ${code}`}`;
  const what = unable?.slice(0, WHY_CHARS) ?? `The ${type} hook ${quote(command)} ${how}`;
  return `${what}. The work passed unjudged; onFailure: block would stop it`;
}
