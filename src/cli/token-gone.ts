import { existsSync, readFileSync } from 'node:fs';
import { isRunning } from '../agents/process.ts';
import type { Home } from '../client/home.ts';
import type { DaemonCard } from '../runtime/card.ts';
import { Refusal } from './errors.ts';

/** Why we cannot speak to a daemon that runs: what it knows us by is not where it left it. Undefined if there is none. */
export function tokenGone(home: Home): Refusal | undefined {
  const card = readCard(home.card);
  // One that is not ready yet has none to leave.
  if (!card?.url || !isRunning(card) || existsSync(home.tokenFile)) return undefined;
  const { pid } = card;
  return new Refusal(
    'unauthenticated',
    `The daemon runs as process ${pid}, but its token ${home.tokenFile} is gone. End it with: kill ${pid}. The next command starts it again, with a new token`,
  );
}

function readCard(path: string): DaemonCard | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DaemonCard;
  } catch {
    return undefined;
  }
}
