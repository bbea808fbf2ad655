import type { Arguments, CommandTable, Surroundings } from '../line/command.ts';
import { completedCommands } from '../line/completion/words.ts';
import { print } from '../show/write.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** Prints the completion script for one shell. */
export async function run({ input }: Arguments, { commands }: Surroundings): Promise<number> {
  const { shell } = input as { shell: Shell };
  print(await completionFor(shell, commands));
  return 0;
}

/** The completion script for a shell. */
export async function completionFor(shell: Shell, table: CommandTable): Promise<string> {
  const commands = completedCommands(table);
  if (shell === 'bash') return (await import('../line/completion/bash.ts')).bashCompletion(commands);
  if (shell === 'zsh') return (await import('../line/completion/zsh.ts')).zshCompletion(commands);
  return (await import('../line/completion/fish.ts')).fishCompletion(commands);
}
