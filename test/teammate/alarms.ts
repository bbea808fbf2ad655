import { watchTurns } from '../../src/teammate/silence.ts';
import type { TurnWatch } from '../../src/teammate/silence.ts';

/** A watch with the usual clocks that writes down every step it takes about a silent turn. */
export function watchForAlarms(alarms: string[], { isProgram = false }: { isProgram?: boolean } = {}): TurnWatch {
  return watchTurns({
    limits: {},
    isProgram,
    teamTools: 'troupe',
    isAsking: async () => false,
    look: async () => ({ processes: 1, cpuMs: undefined, hasChanged: undefined }),
    tell: async (waiting) => void alarms.push(`told ${waiting?.reason}`),
    nudge: async () => void alarms.push('nudged'),
    keep: async () => {},
    note: async () => void alarms.push('noted'),
    cancel: async () => void alarms.push('ended'),
    ask: async () => (alarms.push('asked'), false),
    onError: (error) => void alarms.push(String(error)),
  });
}
