import { findHome } from '../../client/home.ts';
import { connectOnce } from '../../client/once.ts';
import type { TeammateMode } from '../../core/team.ts';
import type { OperationName, ResultOf } from '../../operations/index.ts';
import { readArguments } from '../line/arguments.ts';
import type { Command } from '../line/command.ts';
import { callPatiently, newCommandId, orPatiently } from '../reach/call.ts';
import { readCredential } from '../reach/credential.ts';
import { INTERRUPTED } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { standardScreen } from '../show/screen.ts';
import { fold } from '../show/text.ts';
import { print, warn, warnPeople } from '../show/write.ts';

/**
 * Calls the command's operation and prints the result. With a running daemon this takes less than a third of Node's own
 * start: one connection, one write, one answer, and an exit without closing anything. Other code is loaded on demand.
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
  const given = await readArguments(command, rest, {
    environment: process.env,
    findTeams: async (about, as) => (await import('../reach/which-team.ts')).findCandidates(about, as, process.env),
  });
  if (operation === 'team.create') await addBackend(given.input);
  const frame = {
    type: operation,
    payload: given.input,
    commandId: newCommandId(),
    ...(given.as !== undefined && { as: given.as }),
  };
  const isLong = given.input['wait'] !== undefined;
  if (isLong) daemon.close();
  const answer = isLong ? callPatiently(frame, onMore) : daemon.call(frame).catch(orPatiently(frame, onMore));
  // Only calls that take longer can be interrupted: listening from the start would slow down every call.
  setTimeout(() => process.once('SIGINT', () => process.exit(INTERRUPTED)), 100);
  const screen = standardScreen(process.env);
  const isOver = new AbortController();
  if (operation === 'task.complete' && !given.json && screen.isTerminal && !isLong) {
    const { tellLanding } = await import('./operation/landing.ts');
    void tellLanding(process.env, given.input as { teamId: string; taskId: string }, isOver.signal);
  }
  const result = await answer
    .finally(() => isOver.abort())
    .catch(async (error: unknown) => {
      if (process.env['TROUPE_JOURNAL']) await tellOfOtherJournal(false);
      throw await (await import('./operation/explanations.ts')).explainError(error, command, given.input['teamId']);
    });
  if (process.env['TROUPE_JOURNAL']) await tellOfOtherJournal(true);
  if (notices.length > 0) (await import('../reach/connect.ts')).sayNotices(notices);
  if (after !== undefined) {
    const { readOn } = await import('./operation/read-on.ts');
    after = await readOn(command, given, { list: result as unknown[], after });
  }
  if (operation === 'task.claim' && result === null && !given.json) {
    const { explainNothingClaimed } = await import('./operation/reasons.ts');
    print(await explainNothingClaimed(process.env, given.input as { teamId: string; taskId?: string }));
    return 0;
  }
  if (operation === 'team.list' && !given.json) {
    const [{ openClient }, { printTeams }] = await Promise.all([import('../reach/connect.ts'), import('./teams.ts')]);
    await printTeams(openClient(process.env, { start: false }), result as ResultOf<'team.list'>, screen);
    return 0;
  }
  await show(operation, result, { json: given.json, screen, input: given.input, said: command.said, after });
  if (operation === 'task.show' && !given.json) {
    const { explainWaiting } = await import('./operation/reasons.ts');
    print(fold(await explainWaiting(process.env, result as ResultOf<'task.show'>), screen));
  }
  return 0;
}

/** The panes of a new team open in the terminal of this command. The daemon may have none, or another one. */
async function addBackend(input: Record<string, unknown>): Promise<void> {
  const { findBackend } = await import('./up/panes.ts');
  input['resolvedBackend'] ??= findBackend(input['teammateMode'] as TeammateMode | undefined, process.env);
}

/** After an error, only people get this notice: a program expects one JSON text on standard error. */
async function tellOfOtherJournal(isDone: boolean): Promise<void> {
  await (await import('../reach/other-journal.ts')).tellOfOtherJournal(process.env, isDone ? warn : warnPeople);
}
