import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { parse } from '../core/parse.ts';
import { authorize } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import type { RequestFrame } from '../operations/frames.ts';
import type { Hub } from './hub.ts';
import type { Outbox } from './outbox.ts';
import type { Following } from './push.ts';
import { errorFrame } from './read-frame.ts';

/** The input of `subscribe`, in its payload or beside its type. */
const SubscribeInput = z.object({
  teamId: Slug,
  after: z.number().int().min(0).default(0),
  stream: z.string().max(64).optional(),
  only: z.literal('events').optional(),
});

const UnsubscribeInput = SubscribeInput.pick({ teamId: true });

/** Following a team needs the same scope as reading it. */
export const SUBSCRIBE = { name: 'subscribe', scope: 'reader' } as const;

interface Subscription {
  following?: Following;
  stopped: boolean;
  /** The last batch that was put in the outbox, and the last that left it. */
  queued: number;
  sent: number;
}

/** The teams that one connection follows, each once. */
export function openSubscriptions(hub: Hub, caller: Caller, outbox: Outbox) {
  const byTeam = new Map<string, Subscription>();

  return {
    async add(frame: RequestFrame): Promise<void> {
      try {
        await subscribe(frame.id, parse(SubscribeInput, inputOf(frame)));
      } catch (error) {
        outbox.send(errorFrame(frame.id, hub.asTeamError(error)));
      }
    },

    remove(frame: RequestFrame): void {
      try {
        const { teamId } = parse(UnsubscribeInput, inputOf(frame));
        stop(teamId);
        outbox.send(JSON.stringify({ type: 'unsubscribed', id: frame.id, teamId }));
      } catch (error) {
        outbox.send(errorFrame(frame.id, hub.asTeamError(error)));
      }
    },

    /** The cursors from which each team can be resumed after a cut. */
    cursors(): Record<string, number> {
      return Object.fromEntries([...byTeam].map(([teamId, { sent }]) => [teamId, sent]));
    },

    close(): void {
      for (const teamId of byTeam.keys()) stop(teamId);
    },
  };

  async function subscribe(id: RequestFrame['id'], { teamId, after, stream, only }: z.output<typeof SubscribeInput>) {
    authorize(caller, SUBSCRIBE, teamId);
    const before = byTeam.get(teamId);
    if (!before && byTeam.size >= hub.limits.subscriptions) {
      throw new TeamError('limit', `This connection follows ${byTeam.size} teams already: open another one`);
    }
    // A second subscription to a team resumes at the first one's cursor or, if that is earlier, at its own. Nothing is
    // left out.
    const subscription: Subscription = {
      stopped: false,
      queued: Math.min(after, before?.queued ?? after),
      sent: Math.min(after, before?.sent ?? after),
    };
    stop(teamId);
    byTeam.set(teamId, subscription);
    const following = await hub.feeds
      .subscribe(
        { teamId, after: subscription.queued, stream },
        {
          caller,
          only,
          deliver(seq, frames) {
            subscription.queued = seq;
            outbox.push(frames, () => (subscription.sent = seq));
          },
          get isBusy() {
            return outbox.isBusy;
          },
          whenFree: () => outbox.whenFree(),
          ended(error) {
            if (byTeam.get(teamId) === subscription) byTeam.delete(teamId);
            outbox.send(errorFrame(id, error));
          },
        },
      )
      .catch((error: unknown) => {
        if (byTeam.get(teamId) === subscription) byTeam.delete(teamId);
        throw error;
      });
    if (subscription.stopped) return following.stop();
    subscription.following = following;
    outbox.send(JSON.stringify({ type: 'subscribed', id, teamId, seq: following.seq, stream: following.stream }));
    following.start();
  }

  function stop(teamId: string): void {
    const subscription = byTeam.get(teamId);
    if (!subscription) return;
    subscription.stopped = true;
    subscription.following?.stop();
    byTeam.delete(teamId);
  }
}

function inputOf({ payload, ...fields }: RequestFrame): unknown {
  return payload ?? fields;
}

/** As many cursors as fit into a close frame: 123 bytes. */
export function shortCursors(cursors: Readonly<Record<string, number>>): string {
  const entries = Object.entries(cursors);
  for (;;) {
    const text = JSON.stringify(Object.fromEntries(entries));
    if (text.length <= 123) return text;
    entries.pop();
  }
}
