// Writes src/cli/line/manifest.ts and its texts from the table of operations. The command line reads them instead of the table, because
// loading the table means loading zod: 60 ms where `node -e 0` takes 35. With --check it only says whether they are stale.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { CommandRow, CommandTexts, InputRow, InputType } from '../src/cli/line/command.ts';
import { OPERATIONS } from '../src/operations/index.ts';
import type { OperationName } from '../src/operations/index.ts';
import type { Operation } from '../src/operations/operation.ts';

const ROOT = dirname(import.meta.dirname);

/** What help texts say of inputs whose schema says nothing, or says it for programs. By field, or by `operation field`. */
const TEXTS: Readonly<Record<string, string>> = {
  'hook.register type': 'when it runs: before a task completes, when a teammate has nothing left, when a task is made',
  'hook.remove type': 'which hooks',
  'hook.register onFailure': 'what a hook that fails means: allow or block',
  'hook.register enabled': 'whether it runs',
  'hook.register timeout': 'milliseconds until it is ended',
  'hook.register approved': 'the hash of the content that was approved',
  'hook.register env': 'names of variables that it may see',
  'hook.register executor': 'shell, or node for a module',
  'hook.register command': 'the command',
  'note.search query': 'what to look for',
  'note.remove noteId': 'the note',
  'note.update tags': 'tags',
  'note.update text': 'the text',
  'note.update noteId': 'the note',
  'note.list tag': 'only those with this tag',
  // The command line asks again for as many as were wanted.
  'task.list limit': 'at most so many, the oldest first',
  'event.list limit': 'at most so many',
  'note.add tags': 'tags',
  'note.add text': 'the text',
  'request.answer approve': 'yes, or --no-approve',
  'request.raise detail': 'free data for programs, as JSON',
  'request.raise within': 'milliseconds until the answer is no',
  'member.spawn agent':
    'what runs it: a name such as codex, or JSON as in a team file: {"exec":"./work.sh"} (default: what its team runs on, ' +
    'else agent in config.yaml, else the first that is installed, in the order of troupe agents)',
  'member.spawn cwd': "the directory it works in (default: its lead's, else one of its team's own)",
  'team.create cwd': 'the directory it works in (default: this one)',
  'hook.register cwd': 'the directory it runs in (default: this one)',
  'member.add agent': 'what runs it: a name such as codex, or JSON as in a team file: {"exec":"./work.sh"}',
  activeForm: 'what is going on while somebody works on it: "Running tests"',
  agentType: 'what kind of agent it is',
  assigneeId: 'the member it is reserved for',
  backendType: 'where it can be seen',
  color: 'the colour it is shown in',
  content: 'the text; - reads it from standard input',
  cwd: 'the directory it works in',
  delegateMode: 'the lead only coordinates',
  leadAgent: 'what runs the lead: a name such as claude, or JSON as in a team file',
  budget: 'what may be used, as JSON: {"costUsd":5,"tokens":1000000,"turns":50,"minutes":60}',
  leadPrompt: 'what the lead is to achieve',
  agents: 'whom the lead may bring in, as JSON: {"codex":{"kind":"codex"}}',
  dependencies: 'tasks that must be completed first: 1,2',
  addDependencies: 'tasks that it must wait for as well: 1,2',
  addDependents: 'tasks that must wait for it as well: 3,4',
  description: 'what is to be done; - reads it from standard input',
  epoch: 'refuse if the task changed hands since this epoch',
  feedback: 'what to answer; - reads it from standard input',
  filePath: 'where the plan lies, when it is a file',
  force: 'also with live teammates',
  'team.delete force': 'also with live teammates, and when it cannot be read any more',
  kind: 'only these',
  leadAgentType: 'what kind of agent the lead is',
  leadId: 'the member that leads from now on',
  leadModel: 'the model the lead runs on',
  leadName: 'the name of its lead',
  leadSessionId: "the session of the lead's agent",
  limit: 'at most so many',
  markRead: 'mark what is listed as read',
  maxTeammates: 'how many teammates it may have, the lead not counted',
  memberId: 'the member',
  messageIds: 'the messages',
  messagesPerMinute: 'how many messages each member may send in a minute: 30 unless said',
  metadata: 'free data as JSON: {"ticket":"A-1"}',
  model: 'the model its agent runs on',
  name: 'the name: a-z, 0-9, and - or _ inside',
  onDependencyFailure: 'what to do when a task it waits for fails',
  planApprovalRequired: 'its plan must be approved before it may change anything',
  priority: 'how soon it should be taken',
  prompt: 'what it is told at its start; - reads it from standard input',
  reason: 'why',
  redelivery: 'show again what may have been shown before a crash',
  requestId: 'the request',
  resolvedBackend: 'where teammates show themselves now',
  result: 'what it produced; - reads it from standard input',
  returning: 'it will be started again: what is reserved for it stays so',
  revision: 'refuse if it changed since this revision',
  role: 'what it is there for, in a few words',
  sessionId: "the session of the member's agent",
  since: 'not older than: 10m, 2h, or a moment in ISO 8601',
  status: 'only with this status',
  subscriptions: 'what it wants to hear of',
  summary: 'what it is about, in one line',
  taskId: 'the task',
  teamId: 'the team',
  teammateMode: 'where teammates should show themselves',
  title: 'what is to be done, in one line',
  toId: 'the member it goes to',
  type: 'only of this kind',
  unread: 'only what was not read',
  until: 'not newer than: 10m, 2h, or a moment in ISO 8601',
  usage: 'tokens and money as JSON: {"inputTokens":100,"costUsd":0.01}',
  wait: 'wait up to so long for one: 30s, 5m',
  within: 'how long members may take to agree and end: 30s, 5m',
  'task.list assigneeId': 'held by or reserved for this member',
  'task.list priority': 'only with this priority',
  'task.update status': 'the new status',
  'task.update assigneeId': 'who it is reserved for; none for nobody',
  'task.assign assigneeId': 'the member; nobody when not given',
  'task.fail reason': 'why; - reads it from standard input',
  'team.create description': 'what the team is for; - reads it from standard input',
  'team.update description': 'what the team is for; - reads it from standard input',
  'team.update status': 'the new status',
  'member.add status': 'how it starts',
  'member.update status': 'the new status',
  'member.update result': 'what it produced before it went idle; - reads it from standard input',
  'message.send priority': 'urgent reaches a running turn instead of waiting for its end',
  'message.broadcast priority': 'urgent reaches a running turn instead of waiting for its end',
  'plan.submit content': 'the plan; - reads it from standard input',
  'usage.record taskId': 'the task it was used for',
};

/** What the table's JSON Schemas consist of. */
const Property = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
});
type Property = z.infer<typeof Property>;
const Schema = z.object({
  properties: z.record(z.string(), Property),
  required: z.array(z.string()).default([]),
});

/** What each written file begins with. */
const NOTE = '// Written by scripts/write-manifest.ts from the table of operations; do not edit.';

if (import.meta.main) main();

function main(): void {
  const stale = Object.entries(renderManifest()).filter(([file, text]) => !isCurrent(file, text));
  if (!process.argv.includes('--check')) {
    for (const [file, text] of stale) writeFileSync(join(ROOT, file), text);
    return;
  }
  if (stale.length === 0) return;
  const names = stale.map(([file]) => file).join(' and ');
  console.error(`${names}: not what the operations say. Run node scripts/write-manifest.ts`);
  process.exitCode = 1;
}

function isCurrent(file: string, text: string): boolean {
  return existsSync(join(ROOT, file)) && readFileSync(join(ROOT, file), 'utf8') === text;
}

/** What is written, by file. */
export function renderManifest(): Record<string, string> {
  const commands = OPERATIONS.map((operation) => describeCommand(operation));
  return {
    'src/cli/line/manifest.ts': format(`${NOTE}
import { commandOf } from './command.ts';
import type { Command, CommandRow } from './command.ts';

/** Every operation as a command, as JSON: a command line reads the one it needs, and V8 need not build them all. */
const TABLE: Readonly<Record<string, string>> = {${commands.map(({ words, row }) => entry(words, JSON.stringify(row))).join(',')}};

/** The names of all commands that come from operations. */
export const COMMAND_NAMES: readonly string[] = Object.keys(TABLE);

/** The command of this name, if an operation has it. */
export function readCommand(words: string): Command | undefined {
  const row = Object.hasOwn(TABLE, words) ? TABLE[words] : undefined;
  return row === undefined ? undefined : commandOf(words, JSON.parse(row) as CommandRow);
}
`),
    'src/cli/line/manifest-texts.ts': format(`${NOTE}
import type { CommandTexts } from './command.ts';

/** What help texts say of each operation's command. */
export const TEXTS: Readonly<Record<string, CommandTexts>> = {${commands.map(({ words, texts }) => entry(words, texts)).join(',')}};
`),
  };
}

function entry(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

function format(source: string): string {
  const oxfmt = join(ROOT, 'node_modules/oxfmt/bin/oxfmt');
  const { status, stdout, stderr } = spawnSync(process.execPath, [oxfmt, '--stdin-filepath=src/cli/line/manifest.ts'], {
    cwd: ROOT,
    input: source,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`oxfmt failed: ${stderr}`);
  return stdout;
}

function describeCommand(operation: Operation): { words: string; row: CommandRow; texts: CommandTexts } {
  const { name, summary, scope, cli = {} } = operation;
  const schema = Schema.parse(z.toJSONSchema(operation.input, { io: 'input' }));
  const places = cli.args ?? [];
  const inputs = Object.entries(schema.properties).map(([field, property]) => ({
    ...describeInput(operation, field, property),
    isRequired: schema.required.includes(field),
  }));
  const rowOf = (field: string): InputRow => {
    const input = inputs.find((one) => one.field === field);
    if (!input) throw new Error(`${name} has no input ${field}`);
    const marks = `${input.isRequired ? '!' : ''}${input.nullable ? '?' : ''}`;
    const row = [input.field, input.name, input.type, marks] as const;
    return input.values ? [...row, input.values] : row;
  };
  const flags = inputs.filter(({ field }) => !places.includes(field)).sort((a, b) => rank(a) - rank(b));
  return {
    words: cli.command ?? name.replace('.', ' '),
    row: [name as OperationName, scope, places.map(rowOf), flags.map(({ field }) => rowOf(field))],
    texts: {
      summary,
      inputs: Object.fromEntries(inputs.map(({ field, text }) => [field, text])),
      defaults: Object.fromEntries(
        inputs.flatMap(({ field, fallback }) => (fallback === undefined ? [] : [[field, fallback]])),
      ),
    },
  };
}

/** The team comes first, then what must be given. */
function rank(flag: { field: string; isRequired: boolean }): number {
  if (flag.field === 'teamId') return 0;
  return flag.isRequired ? 1 : 2;
}

function describeInput({ name, cli }: Operation, field: string, property: Property) {
  const isPlace = cli?.args?.includes(field) ?? false;
  const type = typeOf(property);
  // Times are given in milliseconds by programs and as 30s by people.
  const described = type === 'duration' ? undefined : property.description;
  const text = TEXTS[`${name} ${field}`] ?? described ?? TEXTS[field];
  if (text === undefined) throw new Error(`${name}: describe ${field} in its schema, for the help texts`);
  const fallback = property.default;
  const isPlain = typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean';
  return {
    field,
    name: cli?.flags?.[field] ?? nameOf(field, isPlace),
    type,
    text,
    values: property.enum,
    nullable: Array.isArray(property.type) && property.type.includes('null'),
    fallback: isPlain && fallback !== '' && fallback !== false ? fallback : undefined,
  };
}

function nameOf(field: string, isPlace: boolean): string {
  const name = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  // An id is what one gives for the thing; only `--message-id` and the like would mean something else without it.
  if (field === 'teamId' || field === 'taskId' || isPlace) return name.replace(/-id(s?)$/, '$1');
  return name;
}

function typeOf(property: Property): InputType {
  if (/\bmilliseconds\b/.test(property.description ?? '')) return 'duration';
  if (property.format === 'date-time') return 'time';
  const type = [property.type].flat().find((one) => one !== 'null');
  if (type === 'string' || type === 'boolean') return type;
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'array' ? 'list' : 'json';
}
