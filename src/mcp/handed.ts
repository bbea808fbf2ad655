import { TeamError } from '../core/errors.ts';
import { callOperation } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { Handed, RequestId, Session } from './session.ts';

/**
 * Settles what earlier answers carried, by the call that comes now. A later call of the same client shows that it got
 * them, and so they are acknowledged and read. One that counts its requests anew is of a client that began anew under an
 * old session: what it may have lost is for its next Inbox, once; somebody who never counts shall not get it for ever.
 */
export async function settleHanded(
  services: Services,
  session: Session,
  { name, request }: { name: string; request?: RequestId | undefined },
): Promise<void> {
  const got = new Map<string, Handed & { messageIds: string[] }>();
  for (const [id, handed] of session.handed) {
    if (!handed.isAnswered) continue;
    const isLater = !isBefore(request, handed.request) || session.doubted.has(id);
    if (!isLater && name !== 'Inbox') continue;
    session.handed.delete(id);
    if (!isLater) session.doubted.add(id);
    if (!isLater) continue;
    const key = `${handed.teamId}/${handed.memberId}`;
    const inbox = got.get(key) ?? { ...handed, messageIds: [] };
    got.set(key, inbox);
    inbox.messageIds.push(id);
  }
  for (const { teamId, memberId, messageIds } of got.values()) {
    await acknowledge(services, session, { teamId, memberId, messageIds });
  }
}

/** The client gave up a request: what its answer carried, if there was one, it has not got. */
export function doubtHanded({ handed, doubted }: Session, request: unknown): void {
  for (const [id, one] of handed) {
    if (one.request !== request || !one.isAnswered || doubted.has(id)) continue;
    handed.delete(id);
    doubted.add(id);
  }
}

async function acknowledge(
  services: Services,
  { caller, as, doubted }: Session,
  input: { teamId: string; memberId: string; messageIds: string[] },
): Promise<void> {
  for (const id of input.messageIds) doubted.delete(id);
  const signal = new AbortController().signal;
  try {
    await callOperation(services, 'message.acknowledge', { caller, as, input: { ...input, read: true }, signal });
  } catch (error) {
    // The team was closed, or the member is gone: then nobody is shown it again.
    if (!(error instanceof TeamError)) throw error;
  }
}

/** Ids that are numbers grow with every request of a client; of others nothing can be said. */
function isBefore(request: RequestId | undefined, answered: RequestId | undefined): boolean {
  return typeof request === 'number' && typeof answered === 'number' && request <= answered;
}
