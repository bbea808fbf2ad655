import { z } from 'zod';
import type { OperationName } from '../../operations/index.ts';
import type { Operation } from '../../operations/operation.ts';
import type { Command, CommandTexts, Input, InputType } from './command.ts';

/** Makes a command from an operation, and its help texts. */
export function commandFrom(operation: Operation): { command: Command; texts: CommandTexts } {
  const { name, summary, scope, cli = {} } = operation;
  const schema = Schema.parse(z.toJSONSchema(operation.input, { io: 'input' }));
  const places = cli.args ?? [];
  const inputs = Object.entries(schema.properties).map(([field, property]) => ({
    ...describeInput(operation, field, flatten(property)),
    isRequired: schema.required.includes(field),
  }));
  const inputOf = (field: string, isPlace: boolean): Input => {
    const input = inputs.find((one) => one.field === field);
    if (!input) throw new Error(`${name} has no input ${field}`);
    const { isRequired, nullable, type, values } = input;
    return {
      field,
      name: (isPlace ? undefined : cli.flags?.[field]) ?? nameOf(field, isPlace),
      type,
      ...(values && { values }),
      ...(isRequired && { required: true }),
      ...(nullable && { nullable }),
    };
  };
  // An argument with the name of a flag may be given as that flag, too.
  const isFlag = (field: string): boolean => !places.includes(field) || cli.flags?.[field] !== undefined;
  const flags = inputs.filter(({ field }) => isFlag(field)).sort((a, b) => rank(a) - rank(b));
  return {
    command: {
      words: cli.command ?? name.replace('.', ' '),
      operation: name as OperationName,
      scope,
      args: places.map((field) => inputOf(field, true)),
      flags: flags.map(({ field }) => inputOf(field, false)),
      ...(cli.said !== undefined && { said: cli.said }),
      ...(cli.offers && { offers: cli.offers }),
      ...(name.startsWith('work.') && { mayBeClosed: true as const }),
    },
    texts: {
      summary,
      examples: cli.examples ?? [],
      inputs: Object.fromEntries(inputs.map(({ field, text }) => [field, text])),
      defaults: Object.fromEntries(
        inputs.flatMap(({ field, fallback }) => (fallback === undefined ? [] : [[field, fallback]])),
      ),
    },
  };
}

/** The team comes first, then required flags. */
function rank(flag: { field: string; isRequired: boolean }): number {
  if (flag.field === 'teamId') return 0;
  return flag.isRequired ? 1 : 2;
}

function describeInput({ name }: Operation, field: string, property: Property) {
  const type = typeOf(property);
  const text = wordInput(name, field, property);
  const fallback = property.default;
  const isPlain = typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean';
  return {
    field,
    type,
    text,
    values: property.enum,
    nullable: Array.isArray(property.type) && property.type.includes('null'),
    fallback: isPlain && fallback !== '' && fallback !== false ? fallback : undefined,
  };
}

/** The help text of an input: the description in its schema, unless people type the input differently from programs. */
function wordInput(operation: string, field: string, { description }: Property): string {
  const own = TYPED[`${operation} ${field}`] ?? TYPED[field];
  if (own !== undefined) return own;
  if (description === undefined) throw new Error(`${operation}: describe ${field} in its schema, for the help texts`);
  const isLong = LONG.includes(field) || LONG.includes(`${operation} ${field}`);
  return isLong ? `${description}; - reads it from standard input` : description;
}

/** Long texts, which people rarely type in a command line. */
const LONG: readonly string[] = ['description', 'content', 'feedback', 'prompt', 'result', 'task.fail reason'];

const LANDING =
  'answer after this long, even if the work still waits in the merge queue: 30s, 5m (default: wait for its landing)';

/**
 * Help texts of inputs that people type differently from programs: times, lists, JSON. By field or `operation field`.
 */
const TYPED: Readonly<Record<string, string>> = {
  wait: 'wait up to this long for news: 30s, 5m',
  'message.inbox wait': 'wait up to this long for one: 30s, 5m',
  'task.claim wait': 'wait up to this long for one: 30s, 5m',
  'task.complete wait': LANDING,
  'task.update wait': LANDING,
  'team.attend wait': 'how long to wait: 30s, 5m; call again before --grace is over',
  'native.hold wait': 'wait up to this long for its end: 30s, 5m',
  'message.inbox since': 'not older than: 10m, 2h, or a time in ISO 8601',
  'message.inbox until': 'not newer than: 10m, 2h, or a time in ISO 8601',
  'request.raise within': 'how long until an unanswered request counts as no: 30m, 8h',
  'question.ask within': 'how long an answer is waited for: 30m, 8h (default: a day)',
  lease: 'give it back when the holder calls nothing for so long: 30m, 2h; for members that Troupe does not run',
  'question.ask wait': 'wait up to this long for the answer: 30s, 5m',
  'question.ask choices': 'the answers to choose from: SQLite,PostgreSQL',
  'hook.register timeout': 'how long it may run before it is killed: 30s, 5m',
  dependencies: 'tasks that must be completed first: 1,2',
  addDependencies: 'more tasks that it waits for: 1,2',
  addDependents: 'more tasks that wait for it: 3,4',
  'task.update assigneeId': 'the member it is reserved for; none to free it',
  'request.answer approve': 'yes, or --no-approve',
  // The command line fetches pages until it has this many.
  'task.list limit': 'at most this many, oldest first',
  'event.list limit': 'at most this many',
  'team.create cwd': 'the directory it works in (default: this one)',
  'hook.register cwd': 'the directory it runs in (default: this one)',
  'member.spawn cwd': "the directory it works in (default: the lead's, else a new one for the team)",
  'member.add agent': 'its agent: a name such as codex, or JSON as in a team file: {"exec":"./work.sh"}',
  'member.spawn agent':
    'its agent: a name such as codex, or JSON as in a team file: {"exec":"./work.sh"} (default: the agent of its team, ' +
    'else agent in config.yaml, else the first installed one in the list of troupe agents)',
  leadAgent: 'the agent of the lead: a name such as claude, or JSON as in a team file',
  'team.create agents': 'agents that the lead may start, as JSON: {"codex":{"kind":"codex"}}',
  'team.update agents': 'agents that the lead may start, as JSON: {"codex":{"kind":"codex"}}',
  budget: 'the budget, as JSON: {"costUsd":5,"tokens":1000000,"turns":50,"minutes":60}',
  metadata: 'your own data, as JSON: {"ticket":"A-1"}',
  'request.raise question': 'of a question, as JSON: {"choices":["yes","later"],"otherwise":"fail"}',
  'request.raise detail': 'your own data for programs, as JSON',
  usage: 'tokens and money as JSON: {"inputTokens":100,"costUsd":0.01}',
};

function nameOf(field: string, isPlace: boolean): string {
  const name = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  // People name teams, members and tasks by their ids, so `-id` is left out. `--message` would differ from `--message-id`.
  if (['teamId', 'memberId', 'taskId'].includes(field) || isPlace) return name.replace(/-id(s?)$/, '$1');
  return name;
}

/** The property with its types in a list, also if its schema is a union of a value and null. */
function flatten(property: Property): Property {
  const kinds = property.anyOf ?? [];
  const [value, ...others] = kinds.filter(({ type }) => type !== 'null');
  if (value?.type === undefined || others.length > 0 || kinds.length === 1) return property;
  return { ...property, ...value, type: [value.type, 'null'] };
}

function typeOf(property: Property): InputType {
  if (property['x-unit'] === 'ms') return 'duration';
  if (property.format === 'date-time') return 'time';
  const type = [property.type].flat().find((one) => one !== 'null');
  if (type === 'string' || type === 'boolean') return type;
  if (type === 'integer' || type === 'number') return 'number';
  // Comments are sentences.
  if (type === 'array') return property.items?.anyOf ? 'texts' : 'list';
  return 'json';
}

/** The parts of the operations' JSON Schemas that are used here. */
const Property = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(z.looseObject({ type: z.string().optional() })).optional(),
  items: z.looseObject({ anyOf: z.array(z.unknown()).optional() }).optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  'x-unit': z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
});
type Property = z.infer<typeof Property>;
const Schema = z.object({
  properties: z.record(z.string(), Property),
  required: z.array(z.string()).default([]),
});
