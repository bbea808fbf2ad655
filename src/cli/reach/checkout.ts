import type { Client } from '../../client/client.ts';
import { CallError } from '../../client/errors.ts';
import type { ResultOf } from '../../operations/index.ts';
import { Refusal } from '../show/errors.ts';

/**
 * The user's checkout of a team's repository. One that was moved is recognised in the working directory. Without one, git
 * would work on whatever is around.
 */
export async function findCheckout(
  client: Client,
  teamId: string,
  { repository }: Pick<ResultOf<'work.show'>, 'repository'>,
): Promise<string> {
  if (repository !== undefined) return repository;
  try {
    return (await client.call('work.locate', { teamId, folder: process.cwd() })).repository;
  } catch (error) {
    if (!(error instanceof CallError) || !['conflict', 'not_allowed'].includes(error.code)) throw error;
    throw new Refusal(
      'conflict',
      "This machine has no checkout of the team's repository where it was: run the command in the folder to which you moved it, or on a machine that has one",
    );
  }
}
