import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { parse } from '../core/parse.ts';
import { quote } from '../core/text.ts';
import { authorize } from '../operations/caller.ts';
import { admittedOf } from './context.ts';
import type { Env } from './context.ts';
import type { Admitted } from './guard.ts';
import type { Connected, Hub } from './hub.ts';
import { openOutbox } from './outbox.ts';
import { TOO_MANY_OF_ONE } from './share.ts';
import { SUBSCRIBE } from './subscriptions.ts';

const StreamInput = z.object({
  teamId: Slug,
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: ({ input }) => `must be the number of a batch, not ${quote(String(input))}` })
    .transform(Number)
    .default(0),
  stream: z.string().max(64).optional(),
});

/**
 * A team's stream as server-sent events. A browser that lost the connection resumes by itself after the last id it saw.
 */
export function addEventRoute(app: Hono<Env>, hub: Hub): void {
  app.get('/api/teams/:teamId/events', async (context) => {
    const admitted = admittedOf(context);
    const { teamId, after, stream } = parse(StreamInput, inputOf(context));
    authorize(admitted.caller, SUBSCRIBE, teamId);
    if (!admitted.share.stay()) throw new TeamError('limit', TOO_MANY_OF_ONE);
    const body = await openStream(hub, admitted, { teamId, after, stream });
    return context.body(body, 200, { 'content-type': 'text/event-stream' });
  });
}

function inputOf(context: Context): object {
  const [after, stream] = (context.req.header('last-event-id') ?? context.req.query('after'))?.split('.') ?? [];
  return {
    teamId: context.req.param('teamId'),
    ...(after && { after }),
    ...(stream !== undefined && { stream }),
  };
}

async function openStream(
  hub: Hub,
  { caller, isValid }: Admitted,
  { teamId, after, stream }: { teamId: string; after: number; stream?: string | undefined },
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let taken = (): void => {};
  const outbox = openOutbox({ write }, hub, finish);
  const following = await hub.feeds.subscribe(
    { teamId, after, stream },
    {
      caller,
      only: 'events',
      deliver: (seq, frames) =>
        outbox.push(frames.map((frame) => `id: ${seq}.${following.stream}\ndata: ${frame}\n\n`)),
      get isBusy() {
        return outbox.isBusy;
      },
      whenFree: () => outbox.whenFree(),
      ended({ code, message }) {
        outbox.send(`event: error\ndata: ${JSON.stringify({ code, message })}\n\n`);
        void outbox.whenEmpty().then(finish);
      },
    },
  );
  const beat = setInterval(() => outbox.send(': still here\n\n'), hub.limits.keepAliveMs);
  const connected: Connected = {
    caller,
    isValid,
    async end() {
      finish();
    },
    check: () => outbox.isStalled() && finish(),
  };
  hub.join(connected);
  return new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
      outbox.send(': here\n\n');
      following.start();
    },
    pull: takeNext,
    cancel: finish,
  });

  function write(frames: readonly string[], _moved: () => void, done: () => void): void {
    taken = done;
    controller?.enqueue(encoder.encode(frames.join('')));
  }

  /** The client has read the last write. */
  function takeNext(): void {
    const done = taken;
    taken = () => {};
    done();
  }

  /** Called for every kind of end, and may be called more than once. */
  function finish(): void {
    clearInterval(beat);
    hub.leave(connected);
    following.stop();
    outbox.close();
    try {
      controller?.close();
    } catch {
      // The client has closed it already.
    }
  }
}
