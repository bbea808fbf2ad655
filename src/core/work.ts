import { z } from 'zod';
import { Actor } from './actor.ts';
import { Line, Slug, TaskId } from './fields.ts';
import { ID_LENGTH, PATHS_PER_WORK, WORKS_PER_LANDING } from './limits.ts';
import { OVERLAP_COMMANDS, OVERLAP_EVENT_DATA } from './overlap.ts';
import { ReviewWorkInput } from './review.ts';
import { RemoteName } from './team-remote.ts';
import { CommitId, TeamWork } from './team-work.ts';

/** Work that had landed, and is gone with the repository that had it. */
export const LostWork = z.object({ taskId: TaskId, merged: CommitId });
export type LostWork = z.output<typeof LostWork>;

/** A work of a task, as its holder handed it in. */
const WorkName = z.object({ taskId: TaskId, epoch: z.number().int(), commit: CommitId });

/** An attempt to bring works onto the team's branch. Nothing of it counts before they have landed. */
export const Landing = z.object({
  id: z.string().min(1).max(ID_LENGTH),
  /** The daemon that judges it. */
  hostId: z.string(),
  /** The tip that the works were merged onto, one after the other, and the last merged commit. */
  onto: CommitId,
  merged: CommitId,
  works: z.array(WorkName).min(1).max(WORKS_PER_LANDING),
  /** Milliseconds since 1970. */
  since: z.number(),
});
export type Landing = z.output<typeof Landing>;

/** `red`: the gates rejected it. `split`: they rejected several works together. `dropped`: it was never judged. */
const LandingEnd = { how: z.enum(['red', 'split', 'dropped']), why: Line };

/** A landing that brought nothing onto the branch. */
export const EndedLanding = z.object({
  ...LandingEnd,
  tasks: z.array(TaskId),
  /** Milliseconds since 1970. */
  at: z.number(),
});
export type EndedLanding = z.output<typeof EndedLanding>;

/** The same as the team has it: with the last commit of its branch, and its merge queue. */
export const StandingWork = TeamWork.extend({
  tip: CommitId,
  /** The tasks whose work waits to land, in their order. */
  queue: z.array(TaskId).optional(),
  /** The landing that is under way. */
  landing: Landing.optional(),
  /** The daemon that made the last landing. It makes the next one, too, while it lives. */
  queueHost: z.string().optional(),
  /** The last landing, if it brought nothing onto the branch. */
  ended: EndedLanding.optional(),
  /** A person replaced commits of the branch: work may have begun from one that is no longer on it. */
  rewritten: z.literal(true).optional(),
  /** Work that had landed and is gone. */
  lost: z.array(LostWork).optional(),
});
export type StandingWork = z.output<typeof StandingWork>;

/** Where a member works: in a workspace of its own, or in the team's folder with others. */
export const WorkspaceKind = z.enum(['own', 'shared']);
export type WorkspaceKind = z.infer<typeof WorkspaceKind>;

/** A pack in the store beside the journal. It also has the commit that landed. */
export const StoredPack = z.object({
  /** The work, as one commit on its base. */
  commit: CommitId,
  /** SHA-256 of the pack. */
  hash: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256'),
  /** Bytes. */
  size: z.number().int().min(0),
});
export type StoredPack = z.output<typeof StoredPack>;

/** The same at a git remote: refs name the commits there. The id of a commit is the hash of all that it has. */
export const PushedPack = z.object({ commit: CommitId, remote: RemoteName });
export type PushedPack = z.output<typeof PushedPack>;

/** Work on its way to other machines. */
export const WorkPack = z.union([StoredPack, PushedPack]);
export type WorkPack = z.output<typeof WorkPack>;

/** How much a work changed. `paths` has the first of them. */
const Size = {
  files: z.number().int().min(0),
  added: z.number().int().min(0),
  removed: z.number().int().min(0),
  paths: z.array(z.string()).max(PATHS_PER_WORK),
};

/**
 * What a holder changed for a task. `submitted`: it waits in the merge queue. `asked`: the gates accepted it, and it waits
 * outside the queue for an approval. `landed`: it is on the team's branch. `conflicted`: it does not merge onto it. Then
 * the holder brings both together; if the task is completed, a person accepted it so, and the work is kept beside the
 * branch. `unchanged`: there was nothing to land.
 */
export const TaskWork = z.object({
  memberId: Slug,
  /** The epoch of the task under which it was done. */
  epoch: z.number().int(),
  /** The commit that it began from. */
  base: CommitId,
  state: z.enum(['begun', 'submitted', 'asked', 'landed', 'conflicted', 'unchanged']),
  /** What was handed in. */
  commit: CommitId.optional(),
  files: Size.files.optional(),
  added: Size.added.optional(),
  removed: Size.removed.optional(),
  paths: Size.paths.optional(),
  /** The tip that it was merged onto, and the tip after that. */
  onto: CommitId.optional(),
  merged: CommitId.optional(),
  /** While it is asked about: the landing that judged it, and the pack of the merged commit. */
  judged: z.object({ landingId: z.string(), pack: WorkPack.optional() }).optional(),
  /** The commit that was approved. It is not asked about again. */
  approved: CommitId.optional(),
  /** The paths that conflict. */
  conflicts: z.array(z.string()).max(PATHS_PER_WORK).optional(),
  /** How often it went back to its holder because of a conflict. */
  sentBack: z.number().int().optional(),
  /** The commit with which it last did. */
  sentBackAs: CommitId.optional(),
  /** When it was first handed in: milliseconds since 1970. Work that was sent back keeps its place. */
  queuedAt: z.number().optional(),
  /** In views, its place in the queue; the first is 1. */
  place: z.number().int().optional(),
  /** In views: the gates judge it for its landing now. */
  isLanding: z.literal(true).optional(),
  /** In views, while it is asked about: who has to approve it, or a person if no member is named, and since when. */
  waitsFor: z.object({ memberId: Slug.optional(), since: z.number() }).optional(),
  /** While it waits: who completes the task, and with which result. */
  completer: Actor.optional(),
  result: z.string().optional(),
  /** While it waits: its model refused, so it lands only if a gate accepts it. */
  refused: z.literal(true).optional(),
  /** Why it left the queue, if no gate could judge it. */
  withdrawn: z.string().optional(),
  /** The save that has it since its holder went on with another task in the same folder. */
  aside: CommitId.optional(),
  /** Its holder stopped or was restarted after it was handed in. If it is sent back, anybody does it again. */
  left: z.literal(true).optional(),
});
export type TaskWork = z.output<typeof TaskWork>;

/** The same of work that was handed in: its commit and its size are known. */
export type HandedInWork = TaskWork & {
  [K in 'commit' | 'files' | 'added' | 'removed' | 'paths']: NonNullable<TaskWork[K]>;
};

/** A holder begins to work on a task in its workspace. */
export const BeginWorkInput = z.strictObject({
  taskId: TaskId,
  memberId: Slug,
  epoch: z.number().int().min(0),
  base: CommitId,
});
export type BeginWorkInput = z.output<typeof BeginWorkInput>;

/** Work that is not on the branch was put away, and a ref keeps it. */
export const KeepWorkInput = z.strictObject({
  memberId: Slug,
  taskId: TaskId.optional(),
  commit: CommitId,
  ref: Line,
  why: Line,
});
export type KeepWorkInput = z.output<typeof KeepWorkInput>;

/** Landed work is gone: the branch goes back from one tip to an earlier one. No face can send it. */
export const LoseWorkInput = z.strictObject({ from: CommitId, to: CommitId, works: z.array(LostWork), why: Line });
export type LoseWorkInput = z.output<typeof LoseWorkInput>;

/** A holder's work joins the merge queue. No face can send it. */
export const SubmitWorkInput = z.strictObject({
  taskId: TaskId,
  memberId: Slug,
  epoch: z.number().int().min(0),
  base: CommitId,
  commit: CommitId,
  ...Size,
  pack: WorkPack.optional(),
  result: z.string().optional(),
  /** The model refused: it lands only if a gate accepts it. */
  refused: z.boolean().optional(),
});
export type SubmitWorkInput = z.output<typeof SubmitWorkInput>;

/** A landing begins: the works are merged, and will be judged together. */
export const BeginLandingInput = Landing.omit({ id: true, since: true }).extend({ landingId: Landing.shape.id });
export type BeginLandingInput = z.output<typeof BeginLandingInput>;

/** A landing is over, and nothing of it landed. */
export const EndLandingInput = z.strictObject({ landingId: Landing.shape.id, ...LandingEnd });
export type EndLandingInput = z.output<typeof EndLandingInput>;

/** Work that the gates accepted has to be approved before it lands. No face can send it. */
export const AskWorkInput = z.strictObject({
  ...WorkName.shape,
  landingId: Landing.shape.id,
  onto: CommitId,
  merged: CommitId,
  mergedPack: WorkPack.optional(),
  /** A gate judged it, and accepted. */
  accepted: z.boolean().optional(),
});
export type AskWorkInput = z.output<typeof AskWorkInput>;

/** The work that a completion hands in, merged onto the tip. No face can send it. */
export const HandedIn = z.strictObject({
  memberId: Slug,
  epoch: z.number().int().min(0),
  base: CommitId,
  commit: CommitId,
  ...Size,
  onto: CommitId,
  /** The merged commit; absent if it conflicts. */
  merged: CommitId.optional(),
  conflicts: z.array(z.string()).max(PATHS_PER_WORK).optional(),
  pack: WorkPack.optional(),
  /** The landing that judged it, and the pack of the merged commit. Only a person lands work without one. */
  landingId: z.string().optional(),
  mergedPack: WorkPack.optional(),
});
export type HandedIn = z.output<typeof HandedIn>;

/** The input of each command about work. */
export const WORK_COMMANDS = {
  'work.begin': BeginWorkInput,
  'work.submit': SubmitWorkInput,
  'work.ask': AskWorkInput,
  'work.review': ReviewWorkInput,
  'work.keep': KeepWorkInput,
  'work.lose': LoseWorkInput,
  'landing.begin': BeginLandingInput,
  'landing.end': EndLandingInput,
  ...OVERLAP_COMMANDS,
} as const;
export type WorkCommandData = { [T in keyof typeof WORK_COMMANDS]: z.output<(typeof WORK_COMMANDS)[T]> };

const OfTask = z.object({ taskId: z.string(), epoch: z.number().int() });

/** The data of each event about work. */
export const WORK_EVENT_DATA = {
  'work:begun': OfTask.extend({ memberId: z.string(), base: z.string() }),
  'work:submitted': OfTask.extend({
    memberId: z.string(),
    base: z.string(),
    commit: z.string(),
    ...Size,
    pack: WorkPack.optional(),
    result: z.string().optional(),
    refused: z.literal(true).optional(),
  }),
  /** Its holder stopped or was restarted: it will not go on with it if it is sent back. */
  'work:left': OfTask,
  /** Its holder changed, or it cannot be judged: it is no longer in the queue. */
  'work:withdrawn': OfTask.extend({ why: z.string() }),
  /** The landing ends; the work waits outside the queue. */
  'work:asked': OfTask.extend({
    commit: z.string(),
    landingId: z.string(),
    onto: z.string(),
    merged: z.string(),
    pack: WorkPack.optional(),
  }),
  /** The branch has moved since it was judged: it takes its place in the queue again, and is not asked about again. */
  'work:approved': OfTask.extend({ commit: z.string() }),
  'landing:begun': BeginLandingInput,
  'landing:ended': EndLandingInput,
  /** The branch moved from `onto` to `merged`. */
  'work:landed': OfTask.extend({
    commit: z.string(),
    onto: z.string(),
    merged: z.string(),
    landingId: z.string().optional(),
    pack: WorkPack.optional(),
  }),
  /** With `feedback` it goes back to its holder, whose workspace gets both sides and begins from `onto`. */
  'work:conflicted': OfTask.extend({
    commit: z.string(),
    onto: z.string(),
    files: z.array(z.string()),
    feedback: z.string().optional(),
  }),
  'work:lost': LoseWorkInput,
  'work:kept': z.object({
    memberId: z.string(),
    taskId: z.string().optional(),
    commit: z.string(),
    ref: z.string(),
    why: z.string(),
  }),
  ...OVERLAP_EVENT_DATA,
} as const;
