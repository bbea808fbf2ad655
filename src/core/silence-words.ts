import { showAmount } from './budget-words.ts';
import type { Evidence, Silence } from './silence.ts';

/** A silence and its evidence, in words. */
export function describeSilence({ tool, ms }: Silence, evidence: Evidence): string {
  const { processes, cpuMs, hasChanged } = evidence;
  const facts = [
    `${processes} ${processes === 1 ? 'process' : 'processes'}`,
    ...(cpuMs === undefined ? [] : [`${(cpuMs / 1_000).toFixed(1)} s of processor time since the last look`]),
    ...(hasChanged === undefined ? [] : [hasChanged ? 'files changed' : 'no file changed']),
  ];
  const span = showAmount('minutes', ms / 60_000);
  const what = tool === undefined ? `nothing heard for ${span}` : `${tool} has run for ${span}`;
  return `${what} (${facts.join(', ')})`;
}
