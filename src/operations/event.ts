import { z } from 'zod';
import { requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { ENOUGH_CHARS } from './page.ts';
import { visibleEvents } from './visible.ts';

/** An event of the journal as plain JSON. */
export const EventJson = z.looseObject({ type: z.string(), at: z.number(), by: z.string() });

/** The batch of one commit. */
export const Batch = z.object({ seq: z.number().int(), events: z.array(EventJson) });

export const eventOperations = [
  operation({
    name: 'event.list',
    summary: 'List the events of a team, batch by batch',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      after: z.number().int().min(0).default(0).describe('only batches after this number'),
      limit: z.number().int().min(1).max(10_000).default(1_000).describe('at most this many; fewer if they are long'),
    }),
    result: z.array(Batch),
    route: 'GET /api/teams/:teamId/history',
    cli: { examples: ['troupe event list --team demo --after 120'] },
    run: async ({ ledger, caller, more }, { teamId, after, limit }) => {
      const end = await ledger.view(teamId, (state, seq) => {
        requireTeam(state);
        return seq;
      });
      const batches: z.output<typeof Batch>[] = [];
      if (after >= end) return batches;
      let size = 0;
      for await (const { seq, events } of ledger.read(teamId, after)) {
        const batch = { seq, events: visibleEvents(events, caller).map((event) => ({ ...event })) };
        batches.push(batch);
        size += JSON.stringify(batch).length;
        if (batches.length < limit && size <= ENOUGH_CHARS) continue;
        if (seq < end) more?.(seq);
        break;
      }
      return batches;
    },
  }),
] as const;
