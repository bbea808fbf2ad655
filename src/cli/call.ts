import { CallError } from '../client/errors.ts';
import { findHome } from '../client/home.ts';
import { connectOnce } from '../client/once.ts';
import type { RequestFrame } from '../operations/frames.ts';
import type { InputOf, OperationName, ResultOf } from '../operations/index.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { readCredential } from './credential.ts';
import { INTERRUPTED } from './errors.ts';
import { interruption } from './interruption.ts';
import { standardScreen } from './screen.ts';
import { show } from './show.ts';
import { fold } from './text.ts';
import { print, warn, warnPeople } from './write.ts';

/**
 * Calls the command's operation and shows what it answers. Against a daemon that runs this takes less than a third of
 * Node's own start: one connection, one write, one answer, and the process ends without a farewell. Everything else is
 * in files that are loaded when it comes to that.
 */
export async function callOperation(command: Command, rest: readonly string[]): Promise<number> {
  const operation = command.operation as OperationName;
  const home = findHome(process.env);
  const notices: string[] = [];
  let after: string | number | undefined;
  const onMore = (next: string | number): void => void (after = next);
  const onNotice = (message: string): void => void notices.push(message);
  const daemon = connectOnce(home.socket, readCredential(process.env, home), { onNotice, onMore });
  await new Promise(setImmediate);
  const given = await readArguments(command, rest, process.env);
  const frame = {
    type: operation,
    payload: given.input,
    commandId: newCommandId(),
    ...(given.as !== undefined && { as: given.as }),
  };
  const isLong = given.input['wait'] !== undefined;
  if (isLong) daemon.close();
  const answer = isLong ? callPatiently(frame, onMore) : daemon.call(frame).catch(orPatiently(frame, onMore));
  // What takes longer than that may be interrupted; to listen from the start would take everything longer.
  setTimeout(() => process.once('SIGINT', () => process.exit(INTERRUPTED)), 100);
  const screen = standardScreen(process.env);
  const result = await answer.catch(async (error: unknown) => {
    if (process.env['TROUPE_JOURNAL']) await tellOfOtherJournal(false);
    throw await (await import('./explanations.ts')).explainError(error, command, given.input['teamId']);
  });
  if (process.env['TROUPE_JOURNAL']) await tellOfOtherJournal(true);
  if (notices.length > 0) (await import('./connect.ts')).sayNotices(notices);
  if (after !== undefined) {
    const { readOn } = await import('./read-on.ts');
    after = await readOn(command, given, { list: result as unknown[], after });
  }
  if (operation === 'task.claim' && result === null && !given.json) {
    const { explainNothingClaimed } = await import('./nothing-claimed.ts');
    print(await explainNothingClaimed(process.env, given.input as { teamId: string; taskId?: string }));
    return 0;
  }
  if (operation === 'team.list' && !given.json) {
    const [{ openClient }, { printTeams }] = await Promise.all([import('./connect.ts'), import('./teams.ts')]);
    await printTeams(openClient(process.env, { start: false }), result as ResultOf<'team.list'>, screen);
    return 0;
  }
  await show(operation, result, { json: given.json, screen, input: given.input, after });
  if (operation === 'task.show' && !given.json) {
    const { explainWaiting } = await import('./task-waits.ts');
    print(fold(await explainWaiting(process.env, result as ResultOf<'task.show'>), screen));
  }
  return 0;
}

/** Beside an error there is room only for people: a program reads one thing there. */
async function tellOfOtherJournal(isDone: boolean): Promise<void> {
  await (await import('./other-journal.ts')).tellOfOtherJournal(process.env, isDone ? warn : warnPeople);
}

type OnMore = (after: string | number) => void;

/** An id that no other call has. Not from `crypto`: to load that takes 5 ms, and nobody gains by guessing it. */
export function newCommandId(): string {
  const random = Math.random().toString(36).slice(2, 12);
  return `cli-${Date.now().toString(36)}-${process.pid.toString(36)}-${random}`;
}

/** No daemon, a connection lost, a token that was replaced while we read it: what a client knows how to get over. */
function orPatiently(frame: RequestFrame, onMore: OnMore): (error: unknown) => Promise<unknown> {
  return (error) => {
    const isOver = error instanceof CallError && error.code !== 'no_daemon' && error.code !== 'unauthenticated';
    if (isOver) throw error;
    return callPatiently(frame, onMore);
  };
}

/** The same call, with all that may happen on the way. */
async function callPatiently({ type, payload, as, commandId }: RequestFrame, onMore: OnMore): Promise<unknown> {
  const { openClient } = await import('./connect.ts');
  return openClient(process.env).call(type as OperationName, payload as InputOf<OperationName>, {
    signal: interruption(),
    onMore,
    ...(as !== undefined && { as }),
    ...(commandId !== undefined && { commandId }),
  });
}
