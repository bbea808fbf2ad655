import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import type { TeamEvent } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Waiting } from './command-queue.ts';

/**
 * Decides commands one after the other, each against the state that those before it led to, and returns what follows from
 * all. The changes are noted, so that they can be taken back; a refusal leaves no trace but with the one it is told to.
 * Those that have a `print` are steps of one command under one id, which is done once, with all of them.
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
      const steps = waiting.commands.length === 1 ? waiting.commands : stepsLeft(state, waiting.commands);
      for (const command of steps) {
        const isRemembered = command.print !== undefined && events.length > before;
        decided = decide(state, isRemembered ? withoutId(command) : command);
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

/** Steps of one command were all done with it, also those from which nothing followed then. */
function stepsLeft(state: TeamState, commands: readonly Command[]): readonly Command[] {
  const { commandId, print } = commands[0] as Command;
  const wasDone = print !== undefined && commandId !== undefined && state.receipts.has(commandId);
  return wasDone ? commands.slice(0, 1) : commands;
}

/** The team remembers a command by the first of its steps from which something followed; the next ones do not repeat it. */
function withoutId({ commandId: _commandId, ...step }: Command): Command {
  return step;
}
