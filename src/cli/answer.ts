import { hasFlag, readArguments } from './arguments.ts';
import { callOperation } from './call.ts';
import { findCommand, isNoun, unknownCommand } from './commands.ts';
import { reportError } from './errors.ts';
import { interruption } from './interruption.ts';
import type { OwnCommand } from './own/own-command.ts';
import { standardScreen } from './screen.ts';
import { speakJson } from './write.ts';

/** Does what the words say and returns the exit code. */
export async function answer(words: readonly string[]): Promise<number> {
  const isJson = hasFlag(words, '--json');
  speakJson(isJson);
  try {
    const [first = 'help'] = words[0] === '--json' ? words.slice(1) : words;
    if (['--version', '-v', '-V', 'version'].includes(first)) {
      return (await import('./version.ts')).printVersion(isJson);
    }
    if (first === 'help' || hasFlag(words, '--help', '-h') || isNounAlone(words.filter((word) => word !== '--json'))) {
      return (await import('./help.ts')).printHelp(words, standardScreen(process.env));
    }
    // `troupe --json task list` is as clear as `troupe task list --json`.
    const ordered = words[0] === '--json' ? [...words.slice(1), words[0]] : words;
    const found = findCommand(ordered);
    if (!found) throw unknownCommand(ordered);
    return await ('load' in found.command
      ? runOwn(found.command, found.rest)
      : callOperation(found.command, found.rest));
  } catch (error) {
    return reportError(error, isJson);
  }
}

/** `troupe task` asks what there is. */
function isNounAlone(words: readonly string[]): boolean {
  return words.length === 1 && isNoun(words[0] ?? '');
}

async function runOwn(command: OwnCommand, rest: readonly string[]): Promise<number> {
  const given = await readArguments(command, rest, process.env);
  const surroundings = { environment: process.env, screen: standardScreen(process.env), signal: interruption() };
  const loaded = await command.load();
  return loaded.run(given, surroundings).catch((error: unknown) => explain(error, command, given.input['teamId']));
}

/** What went wrong, in the words that help most. */
async function explain(error: unknown, command: OwnCommand, teamId: unknown): Promise<never> {
  throw await (await import('./explanations.ts')).explainError(error, command, teamId);
}
