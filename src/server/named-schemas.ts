import { z } from 'zod';
import { AgentSpec } from '../core/agent.ts';
import { Budget } from '../core/budget.ts';
import { eventSchemas } from '../core/event-data.ts';
import { HookConfig } from '../core/hook.ts';
import { TeamMember } from '../core/member.ts';
import { TeamMessage } from '../core/message.ts';
import { TeamNote } from '../core/note.ts';
import { TeamRequest } from '../core/request.ts';
import { SharedTask } from '../core/task.ts';
import { TeamConfig } from '../core/team.ts';
import { Usage } from '../core/usage.ts';
import { Batch, EventJson } from '../operations/event.ts';
import { Teammate, TeammateTask } from '../operations/teammate-views.ts';

/** JSON Schema, as far as the OpenAPI document looks into it. */
export interface JsonSchema {
  readonly [key: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** Schemas that stand once in the OpenAPI document; generated clients take their types' names from these. */
const NAMES = new Map<unknown, string>([
  [SharedTask, 'Task'],
  [TeamMember, 'Member'],
  [TeamConfig, 'Team'],
  [TeamMessage, 'Message'],
  [TeamRequest, 'Request'],
  [TeamNote, 'Note'],
  [HookConfig, 'Hook'],
  [AgentSpec, 'Agent'],
  [Budget, 'Budget'],
  [Usage, 'Usage'],
  [Batch, 'Batch'],
  [EventJson, 'Event'],
  [Teammate, 'Teammate'],
  [TeammateTask, 'TeammateTask'],
]);

/** Where a named schema stands. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** A schema; named ones in it are references, also the schema itself. */
export function jsonSchema(schema: z.ZodType): JsonSchema {
  const name = NAMES.get(schema);
  return name === undefined ? inPlace(schema) : refTo(name);
}

/** All named schemas, and one for each event. */
export function namedSchemas(): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  for (const [schema, name] of NAMES) schemas[name] = inPlace(schema as z.ZodType);
  const mapping: Record<string, string> = {};
  for (const [type, schema] of eventSchemas()) {
    const name = eventName(type);
    schemas[name] = inPlace(schema);
    mapping[type] = `#/components/schemas/${name}`;
  }
  schemas['Event'] = {
    description: 'Something that happened to a team',
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping },
  };
  return schemas;
}

/** `task:dependencies-added` is `TaskDependenciesAddedEvent`. */
function eventName(type: string): string {
  const words = type.split(/[:-]/).map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Event`;
}

/** The schema itself, even if it has a name. */
function inPlace(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: made }) {
      const name = (zodSchema as unknown) === schema ? undefined : NAMES.get(zodSchema);
      if (name === undefined) return;
      for (const key of Object.keys(made)) delete made[key];
      Object.assign(made, refTo(name));
    },
  }) as JsonSchema;
  return rest;
}
