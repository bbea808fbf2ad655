import type { CommandOf, CommandType } from '../command.ts';
import type { TeamEvent } from '../event.ts';
import type { TeamState } from '../state.ts';

/** What each command leads to, or why it is refused. */
export type Rules = { readonly [T in CommandType]: (state: TeamState, command: CommandOf<T>) => TeamEvent[] };

type NounIn<Type extends string> = Type extends `${infer Noun}.${string}` ? Noun : never;

/** The part about one noun: `RulesOf<'task'>` has `task.create`, `task.claim` ... */
export type RulesOf<Noun extends NounIn<CommandType>> = Pick<Rules, Extract<CommandType, `${Noun}.${string}`>>;
