import { z } from 'zod';
import { Slug, TaskId } from '../core/fields.ts';
import { CommitId } from '../core/team-work.ts';
import { Timestamp } from '../core/time.ts';
import { listWorkSaves, restoreWork } from '../runtime/work/saves.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { requireWorks } from './work-services.ts';

const SAVES_SHOWN = 20;

/** Operations on the saves of workspaces. */
export const workSavesOperations = [
  operation({
    name: 'work.saves',
    summary: 'List the saves of the workspaces, newest first',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      memberId: Slug.optional().describe('this member alone (default: all)'),
      limit: z.number().int().min(1).max(500).default(SAVES_SHOWN).describe('at most this many'),
    }),
    result: z.array(
      z.object({
        memberId: Slug,
        commit: CommitId,
        at: Timestamp,
        base: CommitId.describe('the commit that the work began from'),
        taskId: TaskId.optional().describe('the task that it belongs to'),
        files: z.number().int().describe('how many files differ from the base'),
        added: z.number().int(),
        removed: z.number().int(),
      }),
    ),
    route: 'GET /api/teams/:teamId/work/saves',
    cli: { args: ['memberId'], examples: ['troupe work saves', 'troupe work saves worker-1 --limit 5 --team demo'] },
    run: async (context, asked) => {
      const saves = await listWorkSaves({ ledger: context.ledger, works: requireWorks(context) }, asked);
      return saves.map(({ at, ...save }) => ({ ...save, at: new Date(at) }));
    },
  }),
  operation({
    name: 'work.restore',
    summary: 'Bring the workspace of a member back to a save, after saving what is in it',
    scope: 'lead',
    long: true,
    input: InTeam.extend({
      save: z
        .string()
        .regex(/^[0-9a-f]{4,64}$/, 'is not the id of a save: give 4 digits or more of it')
        .describe('the id of the save, or its beginning'),
      memberId: Slug.optional().describe('its member (default: found by the save)'),
    }),
    result: z.object({
      memberId: Slug,
      folder: z.string().describe('its workspace'),
      commit: CommitId.describe('the save that it is at now'),
      before: CommitId.describe('the save of what was in it before'),
      taskId: TaskId.optional().describe('the task that goes on with it; without one, the next claim puts it away'),
    }),
    route: 'POST /api/teams/:teamId/work/restore',
    cli: { args: ['save'], flags: { memberId: 'member' }, examples: ['troupe work restore 3f2a91c --team demo'] },
    run: (context, asked) => restoreWork({ ledger: context.ledger, works: requireWorks(context) }, asked),
  }),
] as const;
