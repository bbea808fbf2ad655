import type { Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import type { TeamEvent } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { changeMark, noteChanges, takeBackTo } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Waiting } from './command-queue.ts';

/**
 * Decides commands in order, each against the state after the commands before it, and returns the events of all. It
 * records the changes so that they can be rolled back. A refused command changes nothing; only its caller gets the
 * error. Commands with a `print` are steps of one command: they share its id, and the team remembers them once.
 */
export function decideAll(state: TeamState, batch: readonly Waiting[]): TeamEvent[] {
  noteChanges(state);
  const events: TeamEvent[] = [];
  for (const waiting of batch) {
    const mark = changeMark(state);
    const before = events.length;
    waiting.refusal = undefined;
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
      waiting.refusal = { error };
    }
  }
  return events;
}

/** If the command was done before, all its steps were done, even those without events. The first one is enough then. */
function stepsLeft(state: TeamState, commands: readonly Command[]): readonly Command[] {
  const { commandId = '', print } = commands[0] as Command;
  const wasDone = print !== undefined && state.receipts.has(commandId);
  return wasDone ? commands.slice(0, 1) : commands;
}

/** The team remembers a command by its first step that had events, so later steps carry no id. */
function withoutId({ commandId: _commandId, ...step }: Command): Command {
  return step;
}
