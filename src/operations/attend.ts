import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { durationOf } from '../core/duration.ts';
import { Line } from '../core/fields.ts';
import { TeamConfig } from '../core/team.ts';
import { requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

/** A team whose members stop together, and the client that it depends on. */
export const attendOperations = [
  operation({
    name: 'team.rest',
    summary: 'Stop all members of a team at once; it stays open, and their tasks go back to the list',
    scope: 'lead',
    input: InTeam.extend({ reason: Line.default('the team rests').describe('why') }),
    result: TeamConfig,
    route: 'POST /api/teams/:teamId/rest',
    cli: { args: ['teamId'], examples: ['troupe team rest demo', 'troupe team rest demo --reason "enough for today"'] },
    run: ({ coordinator, actor }, { teamId, reason }) => coordinator.restTeam(teamId, { by: actor, reason }),
  }),
  operation({
    name: 'team.attend',
    summary: 'Look after a team while this call waits: when the last such client is gone, the members stop',
    scope: 'lead',
    input: InTeam.extend({
      wait: durationOf(0, 300_000).describe('how long to wait; call again before `grace` is over'),
      grace: durationOf(0, 60_000).default(5_000).describe('how long the team may be without a client'),
    }),
    result: z.object({ teamId: z.string() }),
    route: 'POST /api/teams/:teamId/attend',
    cli: { args: ['teamId'], examples: ['troupe team attend demo --wait 5m'] },
    run: async ({ attendance, ledger, signal }, { teamId, wait, grace }) => {
      await ledger.view(teamId, requireTeam);
      const leave = attendance.enter(teamId, grace);
      try {
        await pause(wait, undefined, { signal }).catch(() => {});
        return { teamId };
      } finally {
        leave();
      }
    },
  }),
] as const;
