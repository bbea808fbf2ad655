import type { Arguments, Surroundings } from '../line/command.ts';
import { completedCommands } from '../line/completion/words.ts';
import { print } from '../show/write.ts';

/** Prints the completion script for one shell. */
export async function run({ input }: Arguments, { commands: table }: Surroundings): Promise<number> {
  const { shell } = input as { shell: 'bash' | 'zsh' | 'fish' };
  const commands = completedCommands(table);
  if (shell === 'bash') print((await import('../line/completion/bash.ts')).bashCompletion(commands));
  if (shell === 'zsh') print((await import('../line/completion/zsh.ts')).zshCompletion(commands));
  if (shell === 'fish') print((await import('../line/completion/fish.ts')).fishCompletion(commands));
  return 0;
}
