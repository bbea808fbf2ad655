import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { CommitId } from '../core/team-work.ts';
import { listChanges, readLines } from '../runtime/work/diff-pages.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { requireWorks } from './work-services.ts';

const Count = z.number().int().min(0);
const After = Count.default(0).describe('go on after so many, as `next` of the last answer says');

/** One file of a difference. */
const Change = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'type-changed', 'renamed']),
  previous: z.string().optional().describe('the path before a rename'),
  added: Count.optional().describe('lines; absent if they were not counted'),
  removed: Count.optional(),
  oldMode: z.string().describe('as in git, such as `100755`; zeros for a side without the file'),
  newMode: z.string(),
  folded: z.enum(['binary', 'large']).optional().describe('why its lines are shown only on request'),
});

const Hunk = z.object({
  oldStart: Count,
  newStart: Count,
  heading: z.string().describe('what git found above it, such as the name of a function'),
  isRest: z.boolean().describe('whether the last answer ends with its first lines'),
  lines: z.array(z.string()).describe('each begins with a space, `+`, `-`, or `\\` for a note of git'),
  cut: z
    .array(z.object({ line: Count, length: Count }))
    .describe('the lines that are not whole, by index, with their whole length'),
});

/** Differences in parts, for readers that show them bit by bit. */
export const workDiffOperations = [
  operation({
    name: 'work.files',
    summary: 'List the files that the team, a task or a member changed',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      of: z.string().max(64).optional().describe('a task or a member (default: all that landed)'),
      before: Count.optional().describe('of a member: its last save up to this time, in milliseconds since 1970'),
      from: CommitId.optional().describe('with `to`, in place of `of`: two commits of the team'),
      to: CommitId.optional().describe('the later one'),
      after: After,
    }),
    result: z.object({
      title: z.string().describe('what is compared'),
      from: CommitId,
      to: CommitId,
      savedAt: Count.optional().describe('when the save was made'),
      files: Count,
      added: Count,
      removed: Count,
      changes: z.array(Change),
      next: Count.optional().describe('there are more files: call again with this as `after`'),
    }),
    route: 'GET /api/teams/:teamId/work/files',
    cli: {
      args: ['of'],
      examples: ['troupe work files --team demo', 'troupe work files worker-1 --team demo --json'],
    },
    run: async (context, { teamId, after, ...asked }) => {
      if ((asked.from === undefined) !== (asked.to === undefined)) {
        throw new TeamError('invalid', 'from and to belong together: give both or none');
      }
      const works = requireWorks(context);
      const { changes, ...page } = await listChanges({ ledger: context.ledger, works, teamId }, asked, after);
      return {
        ...page,
        changes: changes.map(({ path, status, from, added, deleted, oldMode, newMode, folded }) => ({
          path,
          status,
          ...(from !== undefined && { previous: from }),
          ...(added !== undefined && { added }),
          ...(deleted !== undefined && { removed: deleted }),
          oldMode,
          newMode,
          ...(folded !== undefined && folded !== 'bound' && { folded }),
        })),
      };
    },
  }),
  operation({
    name: 'work.lines',
    summary: 'Show how one file differs between two commits of the team',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      from: CommitId.describe('the earlier commit'),
      to: CommitId.describe('the later one'),
      path: z.string().min(1).max(4_096).describe('the file'),
      previous: z.string().min(1).max(4_096).optional().describe('the path before a rename'),
      whole: z.boolean().default(false).describe('also if the file is large or binary'),
      after: After,
    }),
    result: z.object({
      hunks: z.array(Hunk),
      lines: Count.describe('how many lines all answers have together'),
      next: Count.optional().describe('there are more lines: call again with this as `after`'),
      folded: z.enum(['binary', 'large', 'bound']).optional().describe('why there are no lines'),
    }),
    route: 'GET /api/teams/:teamId/work/lines',
    cli: {
      args: ['from', 'to', 'path'],
      examples: [`troupe work lines ${'1'.repeat(40)} ${'2'.repeat(40)} src/parser.ts --team demo`],
    },
    run: async (context, { teamId, ...asked }) => {
      const page = await readLines({ ledger: context.ledger, works: requireWorks(context), teamId }, asked);
      return {
        ...page,
        hunks: page.hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines], cut: [...hunk.cut] })),
      };
    },
  }),
] as const;
