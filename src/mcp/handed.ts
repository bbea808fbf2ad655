import { TeamError } from '../core/errors.ts';
import { callOperation } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { Handed, RequestId, Session } from './session.ts';

/**
 * Settles the messages of earlier answers when the next call comes. A later call of the same client shows that it got
 * those answers, so their messages are acknowledged and read. A request id that is not higher means that the client
 * restarted under an old session. Then its next Inbox shows those messages once more, and only once, because some
 * clients never raise their ids.
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

/** The client cancelled a request, so it did not get the messages of its answer. */
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
    // The team was closed, or the member is gone: nobody will see the message again.
    if (!(error instanceof TeamError)) throw error;
  }
}

/** Numeric request ids grow with every request of a client. Other ids have no known order. */
function isBefore(request: RequestId | undefined, answered: RequestId | undefined): boolean {
  return typeof request === 'number' && typeof answered === 'number' && request <= answered;
}
