import { z } from 'zod';
import { takeSnapshot } from '../core/snapshot.ts';
import { requireTeam, streamOf } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { ENOUGH_CHARS } from './page.ts';
import { visibleEvents } from './visible.ts';

/** An event of the journal as plain JSON. */
export const EventJson = z.looseObject({ type: z.string(), at: z.number(), by: z.string() });

/** The batch of one commit. */
export const Batch = z.object({ seq: z.number().int(), events: z.array(EventJson) });

/** A state that a program of the same version opens, and the batch that it ends with. */
const Snapshot = z.object({
  seq: z.number().int(),
  stream: z.string().describe('tells the team from earlier ones of its name'),
  body: z.string().describe('the state as JSON; its form changes with the version of Troupe'),
});

export const eventOperations = [
  operation({
    name: 'event.list',
    summary: 'List the events of a team, batch by batch',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      after: z.number().int().min(0).default(0).describe('only batches after this number'),
      limit: z
        .number()
        .int()
        .min(1)
        .max(10_000)
        .default(1_000)
        .describe('at most this many batches; fewer if they are long'),
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
  operation({
    name: 'event.snapshot',
    summary: 'Get the state of a team after its last batch, to follow it from there',
    // It has everybody's mail.
    scope: 'lead',
    long: true,
    input: InTeam,
    result: Snapshot,
    route: 'GET /api/teams/:teamId/snapshot',
    cli: { examples: ['troupe event snapshot --team demo --json'] },
    run: ({ ledger }, { teamId }) =>
      ledger.view(teamId, (state, seq) => {
        const stream = streamOf(requireTeam(state));
        // Only a writer needs receipts, and they are the larger part of a team that has run for weeks.
        return { seq, stream, body: takeSnapshot({ ...state, receipts: new Map() }) };
      }),
  }),
] as const;
