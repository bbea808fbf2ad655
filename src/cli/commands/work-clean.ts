import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { askYesNo } from '../show/ask.ts';
import { Refusal } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { nameLeftover } from '../show/views/leftovers.ts';

/** Shows what workspaces left behind, or removes what a person names. It asks first; a script says --yes. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { ids = [], yes = false } = given.input as { ids?: readonly string[]; yes?: boolean };
  const client = openClient(environment);
  try {
    const left = await client.call('work.leftovers', {}, { signal });
    if (ids.length === 0) {
      await show('work.leftovers', left, { json: given.json, screen });
      return 0;
    }
    if (!yes) {
      const named = left.filter(({ id, kind }) =>
        ids.some((one) => id.startsWith(one) || (one === 'trash' && kind === one)),
      );
      const what = named.map(nameLeftover).join(', ') || ids.join(', ');
      if (!process.stdin.isTTY || !process.stderr.isTTY) {
        throw new Refusal('invalid', `This would remove ${what} permanently: say so with --yes`);
      }
      const isSure = await askYesNo(`Remove ${what} permanently?`, signal);
      if (!isSure) throw new Refusal('conflict', 'Nothing was removed');
    }
    const removed = await client.call('work.clean', { ids: [...ids] }, { signal, commandId: newCommandId() });
    await show('work.clean', removed, { json: given.json, screen });
    return 0;
  } finally {
    client.close();
  }
}
