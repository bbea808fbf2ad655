import type { CommandType } from '../../src/core/command.ts';
import type { EventData, EventType } from '../../src/core/event.ts';
import type { InputOf as OperationInput, OperationName } from '../../src/operations/index.ts';
import type { InputOf, Stage } from '../core/stage.ts';
import type { Stage as ServerStage } from '../server/stage.ts';

/** A command that has an effect in the team of `sceneOf`. */
export interface CommandSample<T extends CommandType> {
  readonly by: string;
  readonly input: InputOf<T>;
  /** The events that it causes. */
  readonly events: readonly EventType[];
  /** What has to happen before, if the scene does not have it. */
  readonly before?: (team: Stage) => unknown;
}

/** A sample of every command whose name begins so; the compiler reports missing ones. */
export type CommandSamples<Name extends string = string> = {
  readonly [T in CommandType & `${Name}.${string}`]: CommandSample<T>;
};

/** The same of events: their data, about a team with `ann`, task 1, message m1 and note 1. */
export type EventSamples<Name extends string = string> = {
  readonly [T in EventType & `${Name}:${string}`]: EventData[T];
};

/**
 * A call of an operation that works on a fresh stage. Its names contain the stage's team, because stages may share a
 * server.
 */
export interface OperationSample<N extends OperationName> {
  readonly input: OperationInput<N>;
  /** The member that the person speaks for. */
  readonly as?: string;
}

/** The same of operations. */
export type OperationSamples<Name extends string = string> = {
  readonly [N in OperationName & `${Name}.${string}`]: (stage: ServerStage) => Promise<OperationSample<N>>;
};
