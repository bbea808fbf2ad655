import { isInside } from '../../core/folder.ts';
import type { ResultOf } from '../../operations/index.ts';
import { mergeIn } from '../../workspaces/merge-in.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { findCheckout } from '../reach/checkout.ts';
import { openClient } from '../reach/connect.ts';
import { gitIn } from '../reach/git.ts';
import { INTERRUPTED, Refusal, reportError } from '../show/errors.ts';
import { wordMerge } from '../show/merge.ts';
import { shortPath } from '../show/path.ts';
import { fold } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';

type Work = ResultOf<'work.show'>;

/** Brings a team's branch into the user's checkout, with the user's own git: their hooks, identity and signature. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId } = given.input as { teamId: string };
  const client = openClient(environment);
  try {
    const work = await client.call('work.show', { teamId }, { signal });
    if (work.workspaces === 'shared') {
      throw new Refusal('conflict', `The members of team ${teamId} share a folder: their changes are there already`);
    }
    const repository = await findCheckout(client, teamId, work);
    const { branch = '', base = '', tip = '', depot = '' } = work;
    const merged = await mergeIn(gitIn(repository, environment), { repository, work: { branch, base, tip, depot } });
    if ('refused' in merged) {
      const refusal = new Refusal('conflict', merged.refused);
      // A terminal sends Ctrl-C to git, too, and this process hears of its own later.
      if (merged.endedBy !== 'SIGINT') throw refusal;
      reportError(refusal, given.json);
      return INTERRUPTED;
    }
    const outcome = { team: teamId, branch, repository, ...merged, base, tip, ...sizeIn(work) };
    // Nobody should wonder why this folder has not changed.
    const place = isInside(process.cwd(), repository) ? '' : `In ${shortPath(repository, environment)}: `;
    if (given.json) print(toJson(outcome, screen.isTerminal ? 2 : undefined));
    else print(fold(`${place}${wordMerge(outcome)}\n`, screen));
    return 0;
  } finally {
    client.close();
  }
}

function sizeIn({ files = 0, added = 0, removed = 0 }: Work) {
  return { files, added, removed };
}
