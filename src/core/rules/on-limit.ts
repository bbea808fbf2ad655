import type { Actor } from '../actor.ts';
import { requireFallbacks } from '../limit-policy.ts';
import type { OnLimit } from '../on-limit.ts';
import { requirePerson } from './guard.ts';
import { requireNoSecrets } from './secret.ts';

/** Fallbacks run programs: only a person may choose them. What a returning member has is stored already. */
export function requireOnLimit({ by, onLimit }: { by: Actor; onLimit?: OnLimit | undefined }, before?: OnLimit): void {
  if (!onLimit || JSON.stringify(onLimit) === JSON.stringify(before)) return;
  requirePerson(by, 'choose what follows when a limit is reached');
  requireFallbacks(onLimit);
  for (const { name, agent } of onLimit.agents) requireNoSecrets(agent, `the fallback ${name}`);
}
