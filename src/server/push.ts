import { TeamError } from '../core/errors.ts';
import { requireTeam, streamOf } from '../core/view.ts';
import type { Seq, Stored } from '../journal/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Caller } from '../operations/caller.ts';
import { batchFrames } from './batch-frames.ts';
import type { BatchFrames } from './batch-frames.ts';

/** A client that follows a team. */
export interface Subscriber {
  readonly caller: Caller;
  readonly only: 'events' | undefined;
  /** Gets the batches in order, without gaps or repeats. */
  deliver(seq: Seq, frames: readonly string[]): void;
  /** Whether it has not read enough yet; then nothing more should be delivered. */
  readonly isBusy: boolean;
  whenFree(): Promise<void>;
  /** Called when no more batches will come: the team was deleted or cannot be read. */
  ended(error: TeamError): void;
}

/** An open subscription. */
export interface Following {
  /** The team's last batch when the subscription began. */
  readonly seq: Seq;
  /** The team's stream: tells it from earlier teams with the same name. */
  readonly stream: string;
  /** Begins to deliver. */
  start(): void;
  stop(): void;
}

interface Place {
  readonly subscriber: Subscriber;
  cursor: Seq;
  /** It has all batches so far, and gets the next one at once. */
  live: boolean;
  stopped: boolean;
}

interface Feed {
  /** The last batch that the ledger announced. */
  last: Seq;
  readonly places: Set<Place>;
}

/** How often teams with subscribers are polled, in case the ledger did not announce a change. */
const LOOK_MS = 5_000;

/** The pause after a failed read. The journal itself has already waited for its servers before it failed. */
const RETRY_MS = 1_000;

/** All subscriptions of a server. */
export type Feeds = ReturnType<typeof openFeeds>;

/**
 * Follows teams for subscribers. A subscriber reads the batches that it missed from the journal, at its own pace. After
 * that it gets new batches straight from the ledger, with the state after them and without reading the disk.
 *
 * There are no gaps or repeats, because the ledger announces batches in order, in the same turn in which it changes its
 * state. While a subscriber's cursor is below the last announced batch, it reads the journal. In the turn in which it
 * has caught up, it becomes live.
 */
export function openFeeds(ledger: Pick<Ledger, 'subscribe' | 'view' | 'read'>, onError: (error: unknown) => void) {
  const feeds = new Map<string, Feed>();
  const stopListening = ledger.subscribe((teamId, batch, state) => {
    const feed = feeds.get(teamId);
    if (!feed) return;
    if (batch.seq <= feed.last) return endAll(teamId, feed);
    feed.last = batch.seq;
    const frames = batchFrames(teamId, batch, state);
    for (const place of feed.places) if (place.live) deliverNow(teamId, feed, place, frames);
  });
  const looking = setInterval(() => {
    for (const [teamId, feed] of feeds) void look(teamId, feed).catch(onError);
  }, LOOK_MS);
  looking.unref();

  return {
    /**
     * Follows a team from after a batch. Fails with `not_found` if the team does not exist. Fails with `conflict` if it
     * has not reached that batch, or the batch belongs to an earlier team of that name.
     */
    async subscribe(
      { teamId, after, stream: expected }: { teamId: string; after: Seq; stream?: string | undefined },
      subscriber: Subscriber,
    ): Promise<Following> {
      const place: Place = { subscriber, cursor: after, live: false, stopped: false };
      const { feed, seq, stream } = await ledger.view(teamId, (state, seq) => {
        const stream = streamOf(requireTeam(state));
        if (after > seq || (expected !== undefined && expected !== stream)) {
          const why = after > seq ? `ends with batch ${seq}, not ${after}` : 'is not the one that you followed';
          throw new TeamError('conflict', `Team ${teamId} ${why}: it was created again; subscribe from the start`);
        }
        const feed = feeds.get(teamId) ?? { last: seq, places: new Set() };
        feeds.set(teamId, feed);
        feed.places.add(place);
        return { feed, seq, stream };
      });
      return {
        seq,
        stream,
        start: () => void catchUp(teamId, feed, place),
        stop() {
          place.stopped = true;
          leave(teamId, feed, place);
        },
      };
    },

    /** A team was deleted: ends all subscriptions to it. */
    dropped(teamId: string): void {
      const feed = feeds.get(teamId);
      if (feed) endAll(teamId, feed);
    },

    /** The number of subscriptions. */
    get size(): number {
      return [...feeds.values()].reduce((sum, { places }) => sum + places.size, 0);
    },

    close(): void {
      stopListening();
      clearInterval(looking);
      for (const { places } of feeds.values()) for (const place of places) place.stopped = true;
      feeds.clear();
    },
  };

  function deliverNow(teamId: string, feed: Feed, place: Place, frames: BatchFrames): void {
    if (frames.seq <= place.cursor) return;
    if (frames.seq > place.cursor + 1 || place.subscriber.isBusy) return void catchUp(teamId, feed, place);
    place.cursor = frames.seq;
    place.subscriber.deliver(frames.seq, frames.for(place.subscriber.caller, place.subscriber.only));
  }

  /** Delivers from the journal until the subscriber has caught up with the team. */
  async function catchUp(teamId: string, feed: Feed, place: Place): Promise<void> {
    const { subscriber } = place;
    place.live = false;
    try {
      while (!place.stopped && place.cursor < feed.last) {
        await subscriber.whenFree();
        const from = place.cursor;
        for await (const batch of ledger.read(teamId, from)) {
          const frames = await framesOf(teamId, batch, subscriber);
          if (place.stopped) return;
          place.cursor = batch.seq;
          subscriber.deliver(batch.seq, frames);
          await subscriber.whenFree();
        }
        if (place.cursor === from) return endAll(teamId, feed);
      }
      place.live = true;
    } catch (error) {
      const failure = asTeamError(error);
      if (failure.code !== 'storage') return end(teamId, feed, place, failure);
      // The journal cannot be read now, for example because its servers are away. The subscription stays, and reads
      // again.
      onError(error);
      setTimeout(() => void (place.stopped || catchUp(teamId, feed, place)), RETRY_MS).unref();
    }
  }

  /** The journal has only events, so the messages show the current state. */
  async function framesOf(teamId: string, batch: Stored, { caller, only }: Subscriber): Promise<readonly string[]> {
    if (only === 'events') return batchFrames(teamId, batch).for(caller, only);
    return ledger.view(teamId, (state) => batchFrames(teamId, batch, state).for(caller, only));
  }

  async function look(teamId: string, feed: Feed): Promise<void> {
    await ledger.view(teamId, (state, seq) => {
      if (!state.team || seq < feed.last) return endAll(teamId, feed);
      if (seq === feed.last) return;
      feed.last = seq;
      for (const place of feed.places) if (place.live) void catchUp(teamId, feed, place);
    });
  }

  function endAll(teamId: string, feed: Feed): void {
    const gone = new TeamError('not_found', `Team ${teamId} was deleted: there is nothing more to follow`);
    for (const place of feed.places) end(teamId, feed, place, gone);
  }

  function end(teamId: string, feed: Feed, place: Place, error: TeamError): void {
    const isNew = !place.stopped;
    place.stopped = true;
    leave(teamId, feed, place);
    if (isNew) place.subscriber.ended(error);
  }

  function leave(teamId: string, feed: Feed, place: Place): void {
    feed.places.delete(place);
    if (feed.places.size === 0 && feeds.get(teamId) === feed) feeds.delete(teamId);
  }
}

function asTeamError(error: unknown): TeamError {
  if (error instanceof TeamError) return error;
  return new TeamError('internal', 'The team cannot be followed: this is a bug in Troupe', { cause: error });
}
