import type { LeftOut, LeftOutReason, Problem, Saved, Unsaved, Workspace } from '../../workspaces/workspace.ts';
import type { WorkSettings } from './settings.ts';
import { listUnsaved } from './unsaved.ts';

const LEFT_OUT: Readonly<Record<LeftOutReason, string>> = {
  'file-size': 'is larger than the limit for one file: remove it, or add it to .gitignore',
  'work-size': 'makes the work larger than its limit: remove what does not belong to it, or add it to .gitignore',
  'nested-repository': 'is a git repository inside the folder: remove its .git, or add it to .gitignore',
  'special-file': 'is no regular file (a pipe, a socket or a device): remove it',
  name: 'has a name that git refuses: rename it',
  unreadable: 'cannot be read by git: correct it or what .gitattributes says of it, or remove it',
  copied: 'was copied from the checkout, where git ignores it: add it to .gitignore again, or remove it',
  filter: 'is stored through a filter that is not installed on this machine',
};

/** Everything that is in the way of handing in a save. */
export async function problemsOf(workspace: Workspace, saved: Saved, settings: WorkSettings): Promise<string[]> {
  const found = await workspace.review(saved);
  return [...found.map(wordProblem), ...(await settings.problems(workspace, saved))];
}

/** Why work cannot be handed in, for its holder, and what is in no save besides; undefined if it can. */
export function wordProblems(problems: readonly string[], unsaved: readonly Unsaved[] = []): string | undefined {
  if (problems.length === 0) return undefined;
  const first = 'Your work cannot be handed in yet. Change this, then complete the task again:';
  const also =
    unsaved.length === 0 ? [] : ['This is in no save, so it would not land:', ...dashed(listUnsaved(unsaved))];
  return [first, ...dashed(firstOf(problems)), ...also].join('\n');
}

/** What is in a folder and not in its save, each with the reason; the first of many. */
export function listMissing({ leftOut }: Saved, unsaved: readonly Unsaved[]): string[] {
  return [...firstOf(leftOut.map(wordLeftOut)), ...listUnsaved(unsaved)];
}

function firstOf(lines: readonly string[]): string[] {
  return lines.length > SHOWN ? [...lines.slice(0, SHOWN), `and ${lines.length - SHOWN} more`] : [...lines];
}

function dashed(lines: readonly string[]): string[] {
  return lines.map((line) => `- ${line}`);
}

/** More would only repeat the kind. */
const SHOWN = 20;

function wordProblem(problem: Problem): string {
  switch (problem.kind) {
    case 'left-out':
      return wordLeftOut(problem);
    case 'markers':
      return `${problem.path}:${problem.line} still has conflict markers: resolve the conflict`;
    case 'refused':
      return `${problem.path} is refused by git on other machines (${problem.why}): correct it`;
    case 'case':
      return `${problem.paths.join(' and ')} differ only in case, and are one file on macOS and Windows: rename one`;
  }
}

/** Why something in a folder is in no save, and what to do. */
export function wordLeftOut({ path, reason, detail }: LeftOut): string {
  return `${path} ${LEFT_OUT[reason]}${detail === undefined ? '' : ` (${detail})`}`;
}
