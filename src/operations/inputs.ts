import { z } from 'zod';
import { Slug } from '../core/text.ts';

/** The team that an operation is about. */
export const InTeam = z.strictObject({ teamId: Slug.describe('the team') });

/** How long a call may wait for something to happen, in milliseconds. */
export const Wait = {
  wait: z.number().int().min(0).max(300_000).optional().describe('wait up to so many milliseconds for one'),
};
