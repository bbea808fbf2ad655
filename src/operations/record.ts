import { z } from 'zod';
import { parse } from '../core/parse.ts';
import { createRedactor } from '../runtime/redact.ts';
import { eventOperations } from './event.ts';
import { gateRunOperations } from './gate-runs.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context, Cursor, Operation } from './operation.ts';
import { teamOperations } from './team.ts';
import { transcriptOperations } from './transcript.ts';
import { workDiffOperations } from './work-diff.ts';
import { workOperations } from './work.ts';

/** What a record is made from. */
const READ = z.enum([
  'event.list',
  'gate.runs',
  'team.list',
  'transcript.read',
  'work.files',
  'work.lines',
  'work.show',
]);

const SOURCES: readonly Operation[] = [
  ...eventOperations,
  ...gateRunOperations,
  ...teamOperations,
  ...transcriptOperations,
  ...workDiffOperations,
  ...workOperations,
];

/** Without a daemon, nobody knows which values are secrets: only their patterns are recognized. */
const BY_PATTERN = createRedactor({});

export const recordOperations = [
  operation({
    name: 'record.read',
    summary: 'Read a part of a team as its record has it: without secrets',
    // It has everybody's mail.
    scope: 'lead',
    long: true,
    input: InTeam.extend({
      name: READ.describe('the operation that reads this part'),
      input: z.record(z.string(), z.unknown()).default({}).describe('its input, without the team'),
    }),
    result: z.object({
      answer: z.unknown().describe('what the operation answers, with [redacted] for every secret'),
      after: z.union([z.string(), z.number()]).optional().describe('a list has more: call again with this as `after`'),
    }),
    route: 'POST /api/teams/:teamId/record',
    cli: { args: ['name'], examples: ['troupe record read event.list --team demo --json'] },
    run: readPart,
  }),
] as const;

async function readPart(
  context: Context,
  { teamId, name, input }: { teamId: string; name: z.output<typeof READ>; input: Record<string, unknown> },
): Promise<{ answer: unknown; after?: Cursor }> {
  const source = SOURCES.find((one) => one.name === name) as Operation;
  let after: Cursor | undefined;
  const given = name === 'team.list' ? {} : { ...input, teamId };
  const whole = await source.run({ ...context, more: (cursor) => void (after = cursor) }, parse(source.input, given));
  const answer =
    name === 'team.list' ? (whole as readonly { id: string; parent?: unknown }[]).filter(isOf(teamId)) : whole;
  const { redactor = BY_PATTERN } = context.daemon;
  return { answer: JSON.parse(redactor.json(answer)) as unknown, ...(after !== undefined && { after }) };
}

/** Whether a team is this one, or one that works inside of a member. */
function isOf(teamId: string) {
  return ({ id, parent }: { readonly id: string; readonly parent?: unknown }): boolean =>
    id === teamId || (parent as { teamId?: string } | undefined)?.teamId === teamId;
}
