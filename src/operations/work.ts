import { z } from 'zod';
import { Slug, TaskId } from '../core/fields.ts';
import { WorkOverlap } from '../core/overlap.ts';
import { TaskWork } from '../core/work.ts';
import { diffWork } from '../runtime/work/compare.ts';
import { checkWork, reportWork } from '../runtime/work/report.ts';
import type { DiffFile } from '../workspaces/depot/diff.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { NO_QUEUE, WorkQueue, withAlone } from './work-queue.ts';
import { requireOwn, requireWorks } from './work-services.ts';

const Done = z.object({ done: z.literal(true) });

const Size = { files: z.number().int(), added: z.number().int(), removed: z.number().int() };

const NOTHING = { files: 0, added: 0, removed: 0 };

/** What a member has not handed in. */
const Worker = {
  memberId: Slug,
  folder: z.string().describe('where it works'),
  slot: z.number().int().describe('its TROUPE_SLOT'),
  base: z.string().describe('the commit that its folder began from'),
  behind: z.number().int().describe('by how many commits the branch is further'),
  ...Size,
  taskId: TaskId.optional().describe('what it works on'),
};

const WorkStatus = z.object({
  workspaces: z.enum(['own', 'shared']),
  repository: z.string().optional().describe("the user's checkout"),
  into: z.string().optional().describe('the branch that is checked out there'),
  branch: z.string().optional().describe('the branch on which work lands'),
  base: z.string().optional().describe('the commit that the team began from'),
  tip: z.string().optional().describe('the last commit of the branch'),
  isMerged: z.boolean().default(false).describe('whether the checkout has the tip'),
  lost: z
    .array(TaskId)
    .default([])
    .describe('tasks whose landed work is gone with the repository in which Troupe had it'),
  files: Size.files.default(0).describe('how many files the branch changes'),
  added: Size.added.default(0),
  removed: Size.removed.default(0),
  depot: z.string().optional().describe('the repository that has the branch until it is merged'),
  remote: z
    .object({
      name: z.string(),
      problem: z.string().optional().describe('why it cannot be used as it should, as this machine last saw it'),
    })
    .optional()
    .describe('the git remote by which work travels to other machines'),
  disk: z
    .object({ used: z.number(), limit: z.number() })
    .optional()
    .describe('the bytes that all workspaces of the team take on this machine, and may take'),
  members: z
    .array(
      z.object({
        ...Worker,
        save: z.string().optional().describe('the last save of what it has not handed in'),
        size: z.number().describe('bytes on the disk'),
      }),
    )
    .default([]),
  tasks: z
    .array(
      TaskWork.extend({
        taskId: TaskId,
        title: z.string(),
        isHeld: z.boolean().default(true).describe('whether somebody holds the task now'),
        isAsked: z.boolean().default(false).describe('whether it waits for a person, as when no gate could judge it'),
      }),
    )
    .default([]),
  overlaps: z
    .array(WorkOverlap)
    .default([])
    .describe('what two members that work now have both changed, as of their last saves'),
  queue: WorkQueue.default(NO_QUEUE).describe('the merge queue'),
  kept: z
    .array(z.object({ memberId: z.string(), commit: z.string(), ref: z.string(), at: z.number() }))
    .default([])
    .describe('work that was put away and is on no branch'),
});

const Line = z.string();

const ChangedFile = z.object({
  path: Line,
  status: z.enum(['added', 'modified', 'deleted', 'type-changed', 'renamed']),
  from: Line.optional().describe('the path before a rename'),
  added: z.number().int().optional(),
  removed: z.number().int().optional(),
});

const WorkDiff = z.object({
  title: z.string().describe('what is compared'),
  from: z.string(),
  to: z.string(),
  ...Size,
  isCut: z.boolean().describe('whether the text is not whole'),
  changes: z.array(
    ChangedFile.extend({
      folded: z.enum(['binary', 'large', 'bound']).optional().describe('why its lines are not in the text'),
    }),
  ),
  text: z.string().describe('the unified diff'),
});

export const workOperations = [
  operation({
    name: 'work.show',
    summary: 'Show where the members work, what landed on the branch, and what did not',
    scope: 'reader',
    input: InTeam.extend({ memberId: Slug.optional().describe('this member alone (default: all)') }),
    result: WorkStatus,
    route: 'GET /api/teams/:teamId/work',
    cli: { command: 'work', examples: ['troupe work', 'troupe work --team demo --json'] },
    run: async (context, asked) => {
      const report = await reportWork(context.ledger, requireWorks(context), asked);
      return report
        ? { workspaces: 'own' as const, ...report, queue: withAlone(context, asked.teamId, report.queue) }
        : {
            workspaces: 'shared' as const,
            isMerged: false,
            lost: [],
            ...NOTHING,
            members: [],
            tasks: [],
            overlaps: [],
            queue: NO_QUEUE,
            kept: [],
          };
    },
  }),
  operation({
    name: 'work.diff',
    summary: 'Show what the team, a task or a member changed',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      of: z.string().max(64).optional().describe('a task or a member (default: all that landed)'),
      path: z.string().max(4_096).optional().describe('only this file or folder of the repository'),
      stat: z.boolean().default(false).describe('only the files and how many lines'),
    }),
    result: WorkDiff,
    route: 'GET /api/teams/:teamId/work/diff',
    cli: {
      command: 'diff',
      args: ['of'],
      examples: ['troupe diff', 'troupe diff 3 --team demo', 'troupe diff worker-1 --stat'],
    },
    run: async (context, { teamId, of, path, stat }) => {
      const wanted = { ...(path !== undefined && { paths: [path] }), ...(stat && { maxBytes: 1 }) };
      const found = await diffWork(context.ledger, requireWorks(context), { teamId, of, ...wanted });
      const { title, from, to, files, added, deleted, text, isCut } = found;
      return {
        title,
        from,
        to,
        files: files.length,
        added,
        removed: deleted,
        isCut: isCut && !stat,
        changes: files.map((file) => ({
          ...changedFile(file),
          ...(file.folded !== undefined && !stat && { folded: file.folded }),
        })),
        text: stat ? '' : text,
      };
    },
  }),
  operation({
    name: 'work.check',
    summary: 'Save the workspace of a member, and show what it has not handed in and what is in the way of that',
    scope: 'reader',
    input: InTeam.extend({ memberId: Slug.describe('the member') }),
    result: z.object({
      ...Worker,
      changes: z.array(ChangedFile),
      problems: z.array(z.string()).describe('why its work would be sent back'),
      unsaved: z
        .array(z.string())
        .default([])
        .describe('what is in the folder and in no save, each with the reason; work is handed in without it'),
    }),
    route: 'GET /api/teams/:teamId/members/:memberId/work',
    cli: { args: ['memberId'], examples: ['troupe work check worker-1 --team demo'] },
    run: async (context, worker) => {
      const { changes, ...found } = await checkWork(context.ledger, requireWorks(context), worker);
      return { ...found, changes: changes.map(changedFile) };
    },
  }),
  operation({
    name: 'work.trust',
    summary: 'Agree to the settings of agents and the programs in the workspace of a member, as they are now',
    scope: 'admin',
    input: InTeam.extend({ memberId: Slug.describe('the member') }),
    result: z.object({ paths: z.array(z.string()).describe('the files') }),
    route: 'POST /api/teams/:teamId/members/:memberId/work/trust',
    cli: { args: ['memberId'], examples: ['troupe work trust worker-1 --team demo'] },
    run: async (context, worker) => {
      const works = requireWorks(context);
      return { paths: await works.settings.trust(await works.workspaceOf(worker)) };
    },
  }),
  operation({
    name: 'work.open',
    summary: "Open a member's own workspace",
    scope: 'member',
    input: InTeam.extend({ memberId: Slug.describe('the member') }),
    result: z.object({ folder: z.string(), slot: z.number().int() }).nullable(),
    route: 'POST /api/teams/:teamId/members/:memberId/work',
    cli: { args: ['memberId'], examples: ['troupe work open worker-1 --team demo'] },
    run: async (context, worker) => {
      requireOwn(context, worker.memberId);
      return (await requireWorks(context).open(worker)) ?? null;
    },
  }),
  operation({
    name: 'work.begin',
    summary: 'Bring the workspace of a holder to the branch, for a task that it has just claimed',
    scope: 'member',
    input: InTeam.extend({
      memberId: Slug.describe('the holder'),
      taskId: TaskId.describe('the task'),
      epoch: z.number().int().min(0).describe('refuse if the task changed hands since this epoch'),
      inTurn: z.boolean().default(false).describe('claimed during a turn: what is in the folder stays there'),
    }),
    result: Done,
    route: 'POST /api/teams/:teamId/members/:memberId/work/begin',
    cli: { args: ['memberId', 'taskId'], examples: ['troupe work begin worker-1 3 --epoch 1 --team demo'] },
    run: async (context, { teamId, memberId, taskId, epoch, inTurn }) => {
      requireOwn(context, memberId);
      const works = requireWorks(context);
      const task = { taskId, epoch };
      await (inTurn ? works.beginInTurn({ teamId, memberId }, task) : works.begin({ teamId, memberId }, task));
      return { done: true as const };
    },
  }),
  operation({
    name: 'work.save',
    summary: 'Save what is in the workspace of a member',
    scope: 'member',
    input: InTeam.extend({
      memberId: Slug.describe('the member'),
      inTurn: z.boolean().default(false).describe('saved during a turn: the folder stays as it is'),
    }),
    result: Done,
    route: 'POST /api/teams/:teamId/members/:memberId/work/save',
    cli: { args: ['memberId'], examples: ['troupe work save worker-1 --team demo'] },
    run: async (context, { teamId, memberId, inTurn }) => {
      requireOwn(context, memberId);
      await requireWorks(context).saveNow({ teamId, memberId }, { inTurn });
      return { done: true as const };
    },
  }),
] as const;

function changedFile({ path, status, from, added, deleted }: DiffFile): z.input<typeof ChangedFile> {
  return {
    path,
    status,
    ...(from !== undefined && { from }),
    ...(added !== undefined && { added }),
    ...(deleted !== undefined && { removed: deleted }),
  };
}
