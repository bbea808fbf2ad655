import { answer } from './answer.ts';
import { COMMANDS } from './commands/table.ts';
import { hasFlag } from './line/arguments.ts';

// Not awaited: what it loads later may import what is loaded with it, and would wait for it in turn.
void main(process.argv.slice(2));

/** Answers one command line. */
async function main(words: readonly string[]): Promise<void> {
  const [first = '', ...rest] = words;
  const program = COMMANDS.get(first)?.loadProgram;
  // Programs run until they are ended, and then end by themselves.
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
    // All output was written synchronously: nothing to wait for, not even for the connection to close (2 ms).
    process.exit(await answer(words));
  }
}
