import type { Situation } from '../../core/situation.ts';
import type { ResultOf } from '../../operations/index.ts';

/** A task as people name it, here and in the dashboard: `#3`. */
export function taskName(id: string): string {
  return `#${id}`;
}

/** Several tasks as people name them: `#1, #2`. */
export function taskNames(ids: readonly string[], between = ', '): string {
  return ids.map(taskName).join(between);
}

/** The id that a person means by `3`, `#3` or `T-3`. The daemon refuses anything else. */
export function readTaskId(text: string): string {
  return /^(?:#|t-?)(\d+)$/i.exec(text)?.[1] ?? text;
}

/** A task's status in words. JSON keeps the names of the operations. */
export function statusWord(status: string): string {
  return status === 'in_progress' ? 'in progress' : status;
}

/** A team's status in words. */
export function teamWord(status: ResultOf<'team.show'>['status']): string {
  return status === 'cleaned-up' ? 'closed' : status.replace('-', ' ');
}

/** How to go on after a task that failed; nothing for other situations. */
export function hintRetry(situation: Situation, team: string): string {
  const command = retryCommand(situation, team);
  return command === undefined ? '' : `. To try again: ${command}`;
}

/** The command that tries a failed task again, which keeps the others from going on; undefined in other situations. */
export function retryCommand({ kind, taskId }: Situation, team: string): string | undefined {
  if ((kind !== 'stuck' && kind !== 'failed') || taskId === undefined) return undefined;
  return `troupe task reopen ${taskId} --team ${team}`;
}

/** `once`, `5 times`. */
export function times(number: number): string {
  return number === 1 ? 'once' : `${number} times`;
}

type Request = ResultOf<'request.list'>[number];

/** How to name a request: by its member, if that has only this one, else by its long id. */
export function answerName({ id, memberId }: Request, all: readonly Request[]): string {
  return all.filter((other) => other.memberId === memberId).length === 1 ? memberId : id;
}

/** Whose request it is, as people name it. */
export function askerName(request: Request & { readonly path?: string | undefined }): string {
  const { kind, memberId, path = memberId, detail } = request;
  return kind === 'budget' && detail?.['of'] === 'team' ? 'the team' : path;
}

/** The command that answers a request: one with choices takes more than yes or no. */
export function answerCommand({ question }: Pick<Request, 'question'>): string {
  return question ? 'troupe answer' : 'troupe approve';
}

/** What to do if there is nothing to show yet. */
export const NO_TEAM = 'There is no team yet: troupe up starts one';
