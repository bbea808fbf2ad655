import { answer } from './answer.ts';
import { COMMANDS } from './commands/table.ts';
import { hasFlag, readArguments } from './line/arguments.ts';
import type { Command } from './line/command.ts';
import { reportError } from './show/errors.ts';

// Not awaited: modules that `main` loads may import modules that were loaded with this file, and would wait for it.
void main(process.argv.slice(2));

/** Runs one command line. */
async function main(words: readonly string[]): Promise<void> {
  const [first = '', ...rest] = words;
  const command = COMMANDS.get(first);
  if (command?.loadProgram && !hasFlag(words, '--help', '-h')) {
    await start(command, command.loadProgram, rest);
  } else if (first === '--teammate') {
    process.exit(await (await import('./commands/teammate.ts')).runTeammateCommand(words));
  } else if (first === '--complete') {
    process.exit(await (await import('./commands/completion/values.ts')).printValues(rest));
  } else if (first === '--native-teammate') {
    process.exit(await (await import('./commands/claude/teammate.ts')).runNativeTeammate(words));
  } else {
    // All output was written synchronously, so there is nothing to wait for; closing the connection would take 2 ms.
    process.exit(await answer(words));
  }
}

/** Starts a program with its flags. It reads the environment itself: to `mcp`, a flag means more than a variable. */
async function start(
  command: Command,
  loadProgram: NonNullable<Command['loadProgram']>,
  words: readonly string[],
): Promise<void> {
  try {
    const given = await readArguments(command, words, {
      environment: {},
      findTeams: async () => ({ names: [], areHere: false }),
    });
    const run = await loadProgram();
    await run(given);
  } catch (error) {
    process.exit(reportError(error, hasFlag(words, '--json')));
  }
}
