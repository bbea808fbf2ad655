import { setTimeout as sleep } from 'node:timers/promises';
import { waitsToLand, wordLanding } from '../../../core/queue-view.ts';
import { openClient } from '../../reach/connect.ts';
import { clean } from '../../show/text.ts';
import { taskName } from '../../show/words.ts';
import { warn } from '../../show/write.ts';

/** Work without a gate lands sooner than this, and nobody has to hear of a queue. */
const PATIENCE_MS = 700;
const LOOK_EVERY_MS = 1_000;

/**
 * While a completion waits, says that its work is handed in, and its place in the merge queue whenever that changes. What
 * cannot be found out is not said: the answer itself comes by another way.
 */
export async function tellLanding(
  environment: NodeJS.ProcessEnv,
  { teamId, taskId }: { teamId: string; taskId: string },
  signal: AbortSignal,
): Promise<void> {
  const client = openClient(environment, { start: false });
  let said: string | undefined;
  try {
    await sleep(PATIENCE_MS, undefined, { signal });
    for (;;) {
      const { work } = await client.call('task.show', { teamId, taskId }, { signal });
      const words = work && waitsToLand({ work }) ? wordLanding(work) : undefined;
      if (words !== undefined && words !== said) {
        const leave = said === undefined ? ' Ctrl-C leaves it there.' : '';
        warn(`Task ${taskName(clean(taskId))} is handed in: ${words}.${leave}\n`);
        said = words;
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  } catch {
    // The answer is here, or the daemon is away; the call itself says so.
  } finally {
    client.close();
  }
}
