import type { HookConfig, HookResult } from '../../core/hook.ts';
import { quote } from '../../core/text.ts';

/** The result if there is no hook. */
export const ALLOWED: HookResult = { exitCode: 0, stdout: '', stderr: '', duration: 0, timedOut: false };

/** The parts of a hook that say what follows if it does not run. `approved`: a person approved its content. */
type Refused = Pick<HookConfig, 'onFailure' | 'approved'>;

/**
 * A hook that may not run has failed. The member whose work it judges cannot fix that. If a person approved the hook,
 * `onFailure` is no excuse: a member that changes or deletes a gate in the team's folder would pass by that.
 */
export function refuse({ onFailure, approved }: Refused, unable: string): HookResult {
  const blocks = onFailure === 'block' || approved !== undefined;
  return { ...ALLOWED, exitCode: blocks ? 2 : 1, stderr: unable, unable };
}

/** The same, with the obstacle. */
export function refuseToRun(hook: Refused & Pick<HookConfig, 'command'>, obstacle: string): HookResult {
  return refuse(hook, `The hook ${quote(hook.command)} cannot be run: ${obstacle}`);
}

/** The judged work itself changes what the hook would run. Whatever `onFailure` says, it must not pass by that. */
export function refuseChanged(unable: string, unapproved: string): HookResult {
  return { ...refuse({ onFailure: 'block' }, unable), unapproved };
}

/** Applies `onFailure` to the result of a failed hook. */
export function applyPolicy(
  hook: Pick<HookConfig, 'timeout' | 'onFailure'> & { readonly command?: string },
  result: HookResult,
): HookResult {
  if (result.exitCode !== 1 || hook.onFailure === 'allow') return result;
  const { stdout, stderr } = result;
  const said = `${nameHook(hook)} ${whatFailed(hook, result)}`;
  const hasOutput = stdout.trim() !== '' || stderr.trim() !== '';
  return { ...result, exitCode: 2, stderr: hasOutput ? `${said}:\n${stderr}`.trim() : said };
}

/** How many characters of a command name it. */
const NAME_LENGTH = 80;

/** The command as people know it, in one line; a function has none. */
function nameHook({ command = '' }: { readonly command?: string }): string {
  const [line = '', ...more] = command.trim().split('\n');
  if (line === '') return 'The gate';
  return more.length > 0 || line.length > NAME_LENGTH ? `\`${line.slice(0, NAME_LENGTH)}…\`` : `\`${line}\``;
}

function whatFailed({ timeout }: Pick<HookConfig, 'timeout'>, { timedOut, code }: HookResult): string {
  if (timedOut) return `did not answer within ${timeout} ms`;
  return code === undefined ? 'failed' : `ended with exit code ${code}`;
}
