import { openSandbox } from '../../agents/sandbox/open.ts';
import type { Start } from '../../agents/sandbox/wrap.ts';
import { TeamError } from '../../core/errors.ts';
import { sandboxOf } from '../../core/sandbox.ts';
import type { Sandbox } from '../../core/sandbox.ts';

/**
 * Runs a program of a person in a sandbox, if it has one: a gate or a setup, which run what agents wrote. It has no
 * credential, so it cannot reach the daemon. Rejects if there can be no sandbox.
 */
export async function withSandbox<R>(
  sandbox: Sandbox | undefined,
  start: Start,
  run: (start: Start) => Promise<R>,
): Promise<R> {
  const settings = sandboxOf(sandbox);
  if (!settings) return run(start);
  const { TROUPE_HOME: state, ...env } = start.env;
  if (state === undefined) throw new TeamError('unsupported', 'A sandbox needs a daemon with a state directory');
  const opened = await openSandbox({ settings, state, env });
  try {
    return await run(opened.wrap({ ...start, env }));
  } finally {
    await opened.close();
  }
}
