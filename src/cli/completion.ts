import type { Arguments } from './arguments.ts';
import { print } from './write.ts';

/** Writes the completion for one shell. */
export async function run({ input }: Arguments): Promise<number> {
  const { shell } = input as { shell: 'bash' | 'zsh' | 'fish' };
  if (shell === 'bash') print((await import('./completion/bash.ts')).bashCompletion());
  if (shell === 'zsh') print((await import('./completion/zsh.ts')).zshCompletion());
  if (shell === 'fish') print((await import('./completion/fish.ts')).fishCompletion());
  return 0;
}
