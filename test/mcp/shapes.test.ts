import { expect, test } from 'vitest';
import { inputOf, TOOLS } from '../../src/mcp/tools.ts';
import { connect, LEAD, openTeam } from './house.ts';

/**
 * The inputs of Claude Code's own tools, for the tools whose names we share: the fields in each version, and whether
 * they are required. Agents are trained on these, so every input that is valid there must be valid here.
 */
const STRING = 'text';
const METADATA = { any: ['thing'] };
const UPDATE = {
  taskId: '1',
  subject: STRING,
  description: STRING,
  activeForm: STRING,
  addBlocks: ['2'],
  addBlockedBy: ['3'],
  owner: 'alice',
  metadata: METADATA,
};
const TASKS: [string, Record<string, unknown>][] = [
  ['TaskCreate', { subject: STRING, description: STRING }],
  ['TaskCreate', { subject: STRING, description: STRING, activeForm: STRING, metadata: METADATA }],
  ['TaskGet', { taskId: '1' }],
  ['TaskList', {}],
  ['TaskUpdate', { taskId: '1' }],
  ...['pending', 'in_progress', 'completed', 'deleted'].map((status): [string, Record<string, unknown>] => [
    'TaskUpdate',
    { ...UPDATE, status },
  ]),
];
const TEAMS: [string, Record<string, unknown>][] = [
  ['TeamCreate', { team_name: 'My_Team-1' }],
  ['TeamCreate', { team_name: 'demo', description: STRING, agent_type: 'team-lead' }],
  ['TeamDelete', {}],
];
const NEWER_MESSAGES: Record<string, unknown>[] = [
  { to: 'alice', message: STRING },
  { to: '*', message: STRING, summary: STRING },
  { to: 'alice', message: { type: 'shutdown_request' } },
  { to: 'alice', message: { type: 'shutdown_request', reason: STRING } },
  { to: 'team-lead', message: { type: 'shutdown_response', request_id: 'shutdown-1@alice', approve: true } },
  { to: 'team-lead', message: { type: 'shutdown_response', request_id: 'r', approve: false, reason: STRING } },
  { to: 'alice', message: { type: 'plan_approval_response', request_id: 'r', approve: false, feedback: STRING } },
];
const VERSIONS: Record<string, [string, Record<string, unknown>][]> = {
  '2.1.37': [
    ...TASKS,
    ...TEAMS,
    ...[
      { type: 'message', recipient: 'alice', content: STRING, summary: STRING },
      { type: 'broadcast', content: STRING, summary: STRING },
      { type: 'shutdown_request', recipient: 'alice', content: STRING },
      { type: 'shutdown_response', request_id: 'r', approve: true },
      { type: 'shutdown_response', request_id: 'r', approve: false, content: STRING },
      { type: 'plan_approval_response', request_id: 'r', recipient: 'alice', approve: false, content: STRING },
    ].map((input): [string, Record<string, unknown>] => ['SendMessage', input]),
  ],
  '2.1.177': [
    ...TASKS,
    ...TEAMS,
    ...NEWER_MESSAGES.map((input): [string, Record<string, unknown>] => ['SendMessage', input]),
  ],
  '2.1.325': [
    ...TASKS,
    ...NEWER_MESSAGES.map((input): [string, Record<string, unknown>] => ['SendMessage', input]),
    ['SendMessage', { to: 'alice', message: STRING, notify_when_idle: true }],
    ['SendMessage', { to: 'alice', message: '' }],
  ],
};

test.each(Object.entries(VERSIONS))('accepts the inputs that agents know from version %s', async (_version, inputs) => {
  const client = await connect(await openTeam(), LEAD);
  const { tools } = await client.listTools();
  for (const [name, input] of inputs) {
    const tool = TOOLS.find((one) => one.name === name)!;
    expect(inputOf(tool).safeParse(input).error, `${name} ${JSON.stringify(input)}`).toBeUndefined();
    // The schema that clients see is no stricter than what we accept.
    const { properties = {}, required = [] } = tools.find((one) => one.name === name)!.inputSchema;
    for (const field of Object.keys(input)) expect(properties).toHaveProperty(field);
    for (const field of required) expect(input).toHaveProperty(field);
  }
});
