import { sandboxOf } from '../../core/sandbox.ts';
import { startedOf } from './fallbacks.ts';
import type { TeamFile } from './schema.ts';

/** The members that may do everything without asking, and for which nothing is closed off. */
export function exposedIn(file: TeamFile, folder: string): string[] {
  const names = startedOf(file, folder)
    .filter(({ spec }) => spec.mode === 'full' && !sandboxOf(spec.sandbox))
    .map(({ entry }) => entry.name ?? 'lead');
  return [...new Set(names)];
}
