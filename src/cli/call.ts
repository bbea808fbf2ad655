import type { OperationName } from '../operations/index.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { openClient } from './connect.ts';
import { interruption } from './interruption.ts';
import { standardScreen } from './screen.ts';
import type { Screen } from './screen.ts';
import type { Views } from './views/views.ts';
import { print, toJson } from './write.ts';

/**
 * Calls the command's operation and shows what it answers. It connects first and reads the rest of the line while the
 * daemon looks at the credential; nobody closes the connection, because the process ends with it (2 ms and 1 ms).
 */
export async function callOperation(command: Command, rest: readonly string[]): Promise<number> {
  const operation = command.operation as OperationName;
  const client = openClient(process.env);
  client.connect();
  await new Promise(setImmediate);
  const given = await readArguments(command, rest, process.env);
  const answer = client.call(operation, given.input, {
    commandId: newCommandId(),
    // What does not wait is over before anybody can interrupt it, and to listen all the same takes 1 ms.
    ...(given.input['wait'] !== undefined && { signal: interruption() }),
    ...(given.as !== undefined && { as: given.as }),
  });
  const [result, views] = await Promise.all([answer, given.json ? undefined : loadViews(operation)]);
  write(operation, result, { views, screen: standardScreen(process.env) });
  return 0;
}

/** An id that no other call has. Not from `crypto`: to load that takes 5 ms, and nobody gains by guessing it. */
export function newCommandId(): string {
  const random = Math.random().toString(36).slice(2, 12);
  return `cli-${Date.now().toString(36)}-${process.pid.toString(36)}-${random}`;
}

/** Writes an operation's result: as JSON, or as people like to see it. */
export async function show(
  operation: OperationName,
  result: unknown,
  { json, screen }: { json: boolean; screen: Screen },
): Promise<void> {
  write(operation, result, { screen, views: json ? undefined : await loadViews(operation) });
}

function write(
  operation: OperationName,
  result: unknown,
  { views, screen }: { views: Views | undefined; screen: Screen },
): void {
  if (!views) return print(toJson(result, screen.isTerminal ? 2 : undefined));
  const view = views[operation] as ((result: unknown, screen: Screen) => string) | undefined;
  print(view ? view(result, screen) : toJson(result, 2));
}

/** Those of tasks by themselves, because they are looked at most. */
async function loadViews(operation: OperationName): Promise<Views> {
  if (operation.startsWith('task.')) return (await import('./views/task.ts')).views;
  return (await import('./views/all.ts')).views;
}
