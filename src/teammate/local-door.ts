import type { Stored } from '../journal/journal.ts';
import { callOperation } from '../operations/index.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { Door } from './door.ts';

/**
 * A door in the daemon's own process. It still copies everything through JSON, so that no object is shared by accident.
 */
export function localDoor(services: Services, who: { teamId: string; memberId: string; isLead: boolean }): Door {
  const caller = { scope: who.isLead ? 'lead' : 'member', teamId: who.teamId, memberId: who.memberId } as const;
  const never = new AbortController().signal;
  return {
    async call(name, input, { commandId } = {}) {
      const result = await callOperation(services, name, { caller, input, commandId, signal: never });
      return JSON.parse(JSON.stringify(result ?? null)) as ResultOf<typeof name>;
    },
    changes: (signal, after): AsyncIterable<Stored> => services.ledger.follow(who.teamId, after, signal),
  };
}
