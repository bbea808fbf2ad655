import type { OperationName, ResultOf } from '../../operations/index.ts';
import type { Screen } from './screen.ts';
import { clean, fold } from './text.ts';
import { told, views as taskViews } from './views/task.ts';
import type { Views } from './views/views.ts';
import { print, toJson } from './write.ts';

/** How to show a result, and its input. */
interface Shown {
  readonly json: boolean;
  readonly screen: Screen;
  readonly input?: Readonly<Record<string, unknown>>;
  /** What the command did to the task that is its result. */
  readonly said?: string | undefined;
  /** The cursor of the rest, if the result is an incomplete list. */
  readonly after?: string | number | undefined;
}

/** Prints an operation's result: as JSON, or for people. */
export async function show(
  operation: OperationName,
  result: unknown,
  { json, screen, input = {}, said, after }: Shown,
): Promise<void> {
  if (json) return print(toJson(result, screen.isTerminal ? 2 : undefined));
  if (said !== undefined) return print(fold(told(result as ResultOf<'task.show'>, said), screen));
  // Task views are used most, so they are loaded already: loading one more file takes 2 ms.
  const views: Views = operation.startsWith('task.') ? taskViews : (await import('./views/all.ts')).views;
  const view = views[operation] as
    | ((result: unknown, screen: Screen, input: Readonly<Record<string, unknown>>) => string)
    | undefined;
  const text = view ? view(result, screen, input) : (await import('./views/generic.ts')).showAnything(result, screen);
  const more = after === undefined ? '' : `There is more: --after ${clean(String(after))}\n`;
  print(fold(`${text}${more}`, screen));
}
