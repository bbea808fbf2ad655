import { decide } from '../core/decide.ts';
import type { TeamEvent } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Waiting } from './command-queue.ts';

/**
 * Decides commands one after the other, each against the state that those before it led to, and returns what follows from
 * all. The changes are noted, so that they can be taken back; a refusal leaves no trace but with the one it is told to.
 */
export function decideAll(state: TeamState, batch: readonly Waiting[]): TeamEvent[] {
  noteChanges(state);
  const events: TeamEvent[] = [];
  for (const waiting of batch) {
    const mark = changeMark(state);
    const before = events.length;
    waiting.error = undefined;
    try {
      let decided: TeamEvent[] = [];
      for (const command of waiting.commands) {
        decided = decide(state, command);
        for (const event of decided) {
          evolve(state, event);
          events.push(event);
        }
      }
      waiting.value = waiting.pick(state, waiting.commands.length === 1 ? decided : events.slice(before));
    } catch (error) {
      takeBackTo(state, mark);
      events.length = before;
      waiting.error = error instanceof Error ? error : new Error(String(error));
    }
  }
  return events;
}
