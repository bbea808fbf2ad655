import { openHandle } from '../../src/workspaces/depot/handle.ts';
import type { DepotHandle } from '../../src/workspaces/depot/handle.ts';
import type { Git, GitResult } from '../../src/workspaces/git.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A depot and its git, and the commands that were asked for. */
export interface KnowingDepot {
  readonly git: Git;
  readonly handle: DepotHandle;
  readonly asked: string[];
}

/** A depot on a git that answers these commands alone, by their name or with their last word, and fails at all others. */
export function depotThatKnows(answers: Readonly<Record<string, string>>): KnowingDepot {
  const asked: string[] = [];
  const answer = async ([command = '', ...words]: readonly string[]): Promise<GitResult> => {
    asked.push(command);
    const out = answers[`${command} ${words.at(-1)}`] ?? answers[command];
    if (out === undefined) throw new Error(`git ${command} was started`);
    return { code: 0, out: Buffer.from(out), err: '', isCut: false };
  };
  const git = { run: (_place: unknown, args: readonly string[]) => answer(args) } as unknown as Git;
  return { git, handle: openHandle(git, temporaryFolder()), asked };
}
