import { TeamError } from '../core/errors.ts';
import type { OwnAccount } from './account.ts';
import { openConversation } from './conversation.ts';
import type { Conversation, ConversationOptions } from './conversation.ts';
import type { Door } from './door.ts';
import { isInterrupted } from './over.ts';

/** The member that starts. */
interface Starting {
  readonly door: Door;
  readonly who: { readonly teamId: string; readonly memberId: string };
  readonly signal: AbortSignal;
}

/** Nobody logged in to a stand-in, and the member goes on with another agent. */
export class Switched extends Error {}

/** Starts the agent. If that needs a login, waits until somebody has logged in, instead of crashing again and again. */
export async function startLoggedIn(
  account: OwnAccount,
  member: Starting,
  options: ConversationOptions,
): Promise<Conversation> {
  const { door, who, signal } = member;
  for (;;) {
    account.begun();
    try {
      const conversation = await openConversation(options);
      await account.answered();
      return conversation;
    } catch (error) {
      const isLogin = error instanceof TeamError && error.facts?.needs === 'login';
      const waits = isLogin && (await account.failed({ trouble: 'unauthorised', error: error.message }));
      if (waits && (await account.wait(() => isInterrupted(door, who, signal)))) continue;
      throw account.isSwitched ? new Switched() : error;
    }
  }
}
