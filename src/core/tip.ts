import { z } from 'zod';
import { Line } from './fields.ts';
import { CommitId } from './team-work.ts';
import { WorkPack } from './work.ts';

/**
 * A person moves the team's branch: to commits of its own on top of the tip, or to another history. No face can send
 * it: Troupe looks at the commits first.
 */
export const MoveTipInput = z.strictObject({
  from: CommitId,
  to: CommitId,
  /** The new commits do not descend from the tip. */
  rewritten: z.literal(true).optional(),
  /** Where the branch begins from now on, if it no longer descends from where it began. */
  base: CommitId.optional(),
  /** On several machines, what is new. */
  pack: WorkPack.optional(),
});
export type MoveTipInput = z.output<typeof MoveTipInput>;

/** Somebody put the branch at a commit that does not descend from the tip. Troupe puts it back, and a ref keeps the commit. */
export const RefuseTipInput = z.strictObject({ commit: CommitId, ref: Line });
export type RefuseTipInput = z.output<typeof RefuseTipInput>;

/** The input of each command about the tip. */
export const TIP_COMMANDS = { 'tip.move': MoveTipInput, 'tip.refuse': RefuseTipInput } as const;
export type TipCommandData = { [T in keyof typeof TIP_COMMANDS]: z.output<(typeof TIP_COMMANDS)[T]> };

/** The data of each event about the tip. */
export const TIP_EVENT_DATA = { 'tip:moved': MoveTipInput, 'tip:refused': RefuseTipInput } as const;
