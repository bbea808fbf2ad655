import { z } from 'zod';
import { Sandbox } from '../core/sandbox.ts';
import { Slug } from '../core/text.ts';

/** The team that an operation is about. */
export const InTeam = z.strictObject({ teamId: Slug.describe('the team') });

/** A length of time. Programs send milliseconds; people type `30s` or `5m`, which the command line knows by `x-unit`. */
export const Milliseconds = z.number().int().min(0).meta({ 'x-unit': 'ms' });

/** How long a call may wait for something to happen. */
export const Wait = {
  wait: Milliseconds.max(300_000, 'must be at most 5 minutes (5m)')
    .optional()
    .describe('wait up to so many milliseconds for one'),
};

/** How a member runs. */
export const InSandbox = {
  sandbox: Sandbox.optional().describe(
    'true: it runs apart from your files, processes and network; or what is open there, as {"network":["github.com"]}',
  ),
};
