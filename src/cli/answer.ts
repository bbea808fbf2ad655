import { callOperation } from './commands/operation.ts';
import { COMMANDS } from './commands/table.ts';
import { hasFlag, readArguments } from './line/arguments.ts';
import type { Command } from './line/command.ts';
import { findCommand, isNoun, unknownCommand } from './line/find.ts';
import { interruption } from './reach/interruption.ts';
import { reportError, UsageError } from './show/errors.ts';
import { standardScreen } from './show/screen.ts';
import { print, speakJson } from './show/write.ts';

/** Runs a command line and returns the exit code. */
export async function answer(words: readonly string[]): Promise<number> {
  const isJson = hasFlag(words, '--json');
  speakJson(isJson);
  try {
    const [first] = words[0] === '--json' ? words.slice(1) : words;
    if (first === undefined) {
      return await (await import('./commands/next.ts')).showNext(process.env, isJson, standardScreen(process.env));
    }
    if (['--version', '-v', '-V', 'version'].includes(first)) return await printVersion(isJson);
    if (first === 'help' || hasFlag(words, '--help', '-h') || isNounAlone(words.filter((word) => word !== '--json'))) {
      return (await import('./line/help.ts')).printHelp(COMMANDS, words, standardScreen(process.env));
    }
    // `troupe --json task list` means the same as `troupe task list --json`.
    const ordered = words[0] === '--json' ? [...words.slice(1), words[0]] : words;
    const found = findCommand(COMMANDS, ordered);
    if (!found) throw unknownCommand(COMMANDS, ordered);
    const { command, rest } = found;
    if (command.loadProgram) throw new UsageError(`Put --json after ${command.words}`, command.words);
    return await (command.load ? run(command, rest) : callOperation(command, rest));
  } catch (error) {
    return reportError(error, isJson);
  }
}

async function printVersion(json: boolean): Promise<number> {
  const version = (await import('../runtime/version.ts')).readVersion();
  print(`${json ? JSON.stringify({ version }) : version}\n`);
  return 0;
}

/** `troupe task` asks for the commands of that noun. `troupe work` is a command itself. */
function isNounAlone([word = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && isNoun(COMMANDS, word) && !COMMANDS.get(word);
}

async function run(command: Command, rest: readonly string[]): Promise<number> {
  const { env: environment } = process;
  const given = await readArguments(command, rest, {
    environment,
    findTeams: async (about, as) => (await import('./reach/which-team.ts')).findCandidates(about, as, environment),
  });
  const screen = standardScreen(environment);
  const loaded = await command.load?.();
  if (!loaded) throw new Error(`troupe ${command.words} does nothing`);
  return loaded
    .run(given, { environment, screen, signal: interruption(), commands: COMMANDS })
    .catch((error: unknown) => explain(error, command, given.input['teamId']));
}

/** Replaces an error with one whose message helps most. */
async function explain(error: unknown, command: Command, teamId: unknown): Promise<never> {
  throw await (await import('./commands/operation/explanations.ts')).explainError(error, command, teamId);
}
