import type { OperationName } from '../operations/index.ts';
import type { Screen } from './screen.ts';
import { fold } from './text.ts';
import { views as taskViews } from './views/task.ts';
import type { Views } from './views/views.ts';
import { print, toJson } from './write.ts';

/** Writes an operation's result: as JSON, or as people like to see it. */
export async function show(
  operation: OperationName,
  result: unknown,
  { json, screen, input = {} }: { json: boolean; screen: Screen; input?: Readonly<Record<string, unknown>> },
): Promise<void> {
  if (json) return print(toJson(result, screen.isTerminal ? 2 : undefined));
  // Those of tasks are looked at most, so they are here already: to load one more file takes 2 ms.
  const views: Views = operation.startsWith('task.') ? taskViews : (await import('./views/all.ts')).views;
  const view = views[operation] as
    | ((result: unknown, screen: Screen, input: Readonly<Record<string, unknown>>) => string)
    | undefined;
  const text = view ? view(result, screen, input) : (await import('./views/generic.ts')).showAnything(result, screen);
  print(fold(text, screen));
}
