import { z } from 'zod';
import { Slug, TaskId } from './fields.ts';
import { PATHS_PER_OVERLAP } from './limits.ts';

/** A member, and the task that it works on. */
const Side = z.object({ memberId: Slug, taskId: TaskId, epoch: z.number().int().min(0) });
export type OverlapSide = z.output<typeof Side>;

const Paths = z.array(z.string()).max(PATHS_PER_OVERLAP);

/** What two members have changed alike and not handed in, as of their last saves. */
export const WorkOverlap = z.object({
  /** The task with the smaller number first. */
  sides: z.tuple([Side, Side]),
  /** How many files both changed; none if they no longer meet. */
  files: z.number().int().min(0),
  /** The first of them. */
  paths: Paths,
  /** Those of them that do not merge. */
  conflicts: Paths,
});
export type WorkOverlap = z.output<typeof WorkOverlap>;

/** The same in the state of a team, with what both members and the lead were told so far. */
export interface OverlapRecord extends WorkOverlap {
  readonly told: Pick<WorkOverlap, 'paths' | 'conflicts'>;
  /** How often they were told. */
  readonly times: number;
}

/** The input of each command about overlaps. No face can send one. */
export const OVERLAP_COMMANDS = { 'work.overlap': WorkOverlap } as const;

/** The data of each event about overlaps. */
export const OVERLAP_EVENT_DATA = { 'work:overlapped': WorkOverlap } as const;
