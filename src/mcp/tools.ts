import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Slug } from '../core/fields.ts';
import type { Tool } from './tool.ts';
import { messageTools } from './tools/message.ts';
import { noteTools } from './tools/note.ts';
import { questionTools } from './tools/question.ts';
import { spawnTools } from './tools/spawn.ts';
import { taskTools } from './tools/task.ts';
import { teamTools } from './tools/team.ts';
import { workTools } from './tools/work.ts';

/** Every tool, in the order in which agents see them. */
export const TOOLS: readonly Tool[] = [
  ...teamTools,
  ...spawnTools,
  ...taskTools,
  ...messageTools,
  ...questionTools,
  ...noteTools,
  ...workTools,
];

const INPUTS = new Map(
  TOOLS.map((tool) => [tool, tool.teamless ? tool.input : tool.input.extend({ team_name: Slug.optional() })]),
);

/** The input of a tool: its own fields, and the team, which a person's credential does not name. */
export function inputOf(tool: Tool): z.ZodObject {
  return INPUTS.get(tool) ?? tool.input;
}

/** A tool as clients see it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly _meta: Readonly<Record<string, unknown>>;
}

const DESCRIPTIONS = new Map<string, ToolDescription>();

/** Describes a tool for a client. If the credential names no team, the team is among its inputs. */
export function describeTool(tool: Tool, { named }: { named: boolean }): ToolDescription {
  const asksTeam = named && !tool.teamless;
  const key = `${tool.name} ${asksTeam}`;
  let description = DESCRIPTIONS.get(key);
  if (!description) DESCRIPTIONS.set(key, (description = describe(tool, asksTeam)));
  return description;
}

/**
 * Every agent reads every byte of the list. So it leaves out what is so in any JSON, and bounds, which an agent hardly
 * ever meets: it is told about those when it does.
 */
const NOT_SHOWN = ['propertyNames', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern', 'default'] as const;

function describe(tool: Tool, asksTeam: boolean): ToolDescription {
  const input = asksTeam ? inputOf(tool) : tool.input;
  const { $schema: _schema, ...inputSchema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const key of NOT_SHOWN) delete jsonSchema[key];
      if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) delete jsonSchema.additionalProperties;
    },
  });
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: inputSchema as ToolDescription['inputSchema'],
    annotations: tool.reads
      ? { readOnlyHint: true }
      : // Without these, some agents ask their user before every call.
        { destructiveHint: false, openWorldHint: false },
    // Claude Code hides tools behind a search otherwise.
    _meta: { 'anthropic/alwaysLoad': true },
  };
}
