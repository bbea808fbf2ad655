import { findAgent } from '../agents/catalog.ts';
import { openSandbox } from '../agents/sandbox/open.ts';
import type { OpenSandbox, SandboxOptions } from '../agents/sandbox/open.ts';
import { catalogNameOf } from '../core/agent-kinds.ts';
import type { AgentSpec } from '../core/agent.ts';
import { sandboxOf } from '../core/sandbox.ts';
import { requireRunnable } from './runnable.ts';

/** Opens the sandbox of an agent, if it has one: with its login, the hosts of its model, and its daemon. */
export async function openMemberSandbox(
  spec: AgentSpec,
  around: Pick<SandboxOptions, 'state' | 'env' | 'daemon'>,
): Promise<OpenSandbox | undefined> {
  const settings = sandboxOf(spec.sandbox);
  if (!settings) return undefined;
  // It may have been asked for on another machine.
  requireRunnable({ spec, cwd: undefined });
  return openSandbox({ settings, login: findAgent(catalogNameOf(spec))?.login, ...around });
}
