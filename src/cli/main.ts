import { answer } from './answer.ts';
import { COMMANDS } from './commands/table.ts';
import { hasFlag } from './line/arguments.ts';

// Not awaited: modules that `main` loads may import modules that were loaded with this file, and would wait for it.
void main(process.argv.slice(2));

/** Runs one command line. */
async function main(words: readonly string[]): Promise<void> {
  const [first = '', ...rest] = words;
  const program = COMMANDS.get(first)?.loadProgram;
  // A program runs until it is stopped, and exits by itself.
  if (program && !hasFlag(words, '--help', '-h')) {
    await (
      await program()
    )(rest);
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
