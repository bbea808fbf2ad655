import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as actor from '../../src/core/actor.ts';
import * as agent from '../../src/core/agent.ts';
import { isSlug, suggestSlug } from '../../src/core/fields.ts';
import * as hook from '../../src/core/hook.ts';
import * as json from '../../src/core/json.ts';
import * as limits from '../../src/core/limits.ts';
import * as member from '../../src/core/member.ts';
import * as message from '../../src/core/message.ts';
import * as note from '../../src/core/note.ts';
import { parse } from '../../src/core/parse.ts';
import { isPerson, isVacant } from '../../src/core/person.ts';
import * as request from '../../src/core/request.ts';
import { createState } from '../../src/core/state.ts';
import * as task from '../../src/core/task.ts';
import * as team from '../../src/core/team.ts';
import * as text from '../../src/core/text.ts';
import * as time from '../../src/core/time.ts';
import * as usage from '../../src/core/usage.ts';
import { viewMember, viewTask, viewTeam } from '../../src/core/view.ts';
import { StandingWork, TaskWork } from '../../src/core/work.ts';
import { tries } from '../proof.ts';
import { WORK } from '../samples/work.ts';
import { OPENING, play, steps } from './random-team.ts';

const SCHEMAS = [actor, agent, hook, json, member, message, note, request, task, team, text, time, usage]
  .flatMap((module) => Object.entries(module) as [string, unknown][])
  .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType);

describe('every schema', () => {
  test.each(SCHEMAS)('can be written as JSON Schema: %s', (_name, schema) => {
    const told = z.toJSONSchema(schema, { io: 'input' });
    expect(Object.keys(told).length).toBeGreaterThan(1);
    expect(JSON.parse(JSON.stringify(told))).toEqual(told);
  });

  test.each(SCHEMAS.filter(([name, schema]) => name.endsWith('Input') && schema instanceof z.ZodObject))(
    'of an input refuses unknown fields: %s',
    (_name, schema) => {
      const { error } = schema.safeParse({ surprise: 1 });
      expect(error?.issues).toContainEqual(expect.objectContaining({ code: 'unrecognized_keys', keys: ['surprise'] }));
    },
  );
});

describe('a date', () => {
  const moment = new Date('2026-01-02T03:04:05.678Z');

  test('is a Date in memory and ISO 8601 text in JSON', () => {
    expect(z.encode(time.Timestamp, moment)).toBe('2026-01-02T03:04:05.678Z');
    expect(z.decode(time.Timestamp, '2026-01-02T03:04:05.678Z')).toEqual(moment);
    expect(z.toJSONSchema(time.Timestamp, { io: 'input' })).toMatchObject({ type: 'string', format: 'date-time' });
  });

  test.each(['', 'yesterday', '2026-13-01T00:00:00Z', '2026-01-01', 0, null, moment])(
    'is never %j in JSON',
    (value) => {
      expect(time.Timestamp.safeParse(value).success).toBe(false);
    },
  );
});

describe('what the faces show', () => {
  test('matches its schema and survives JSON, after any story', () => {
    fc.assert(
      fc.property(steps(100), (story) => {
        const state = createState('alpha');
        play(state, OPENING);
        play(state, story, 100);
        expectRoundTrip(team.TeamConfig, viewTeam(state));
        for (const record of state.tasks.values()) expectRoundTrip(task.SharedTask, viewTask(state, record));
        for (const record of state.members.values()) expectRoundTrip(member.TeamMember, viewMember(state, record));
        for (const record of state.messages.values()) expectRoundTrip(message.TeamMessage, record);
        for (const record of state.requests.values()) expectRoundTrip(request.TeamRequest, record);
        for (const record of state.notes.values()) expectRoundTrip(note.TeamNote, record);
        for (const record of state.memberUsage.values()) expectRoundTrip(usage.Usage, record);
      }),
      tries(20),
    );
  });

  test('to hooks survives JSON', () => {
    const about = { teamId: 'alpha', memberName: 'ann', taskId: '1', taskTitle: 't' };
    const { teamId, memberName, taskId, taskTitle } = about;
    expectRoundTrip(hook.TeammateIdleHookContext, {
      teamId,
      memberId: 'ann',
      memberName,
      completedTaskIds: ['1'],
      remainingTasks: 2,
      idleSince: new Date(0),
    });
    expectRoundTrip(hook.TaskCompletedHookContext, {
      ...about,
      completedBy: 'ann',
      duration: 5,
      dependentTaskIds: ['2'],
    });
    expectRoundTrip(hook.TaskCreatedHookContext, { teamId, taskId, taskTitle, createdBy: '@user' });
    expectRoundTrip(hook.HookResult, { exitCode: 2, stdout: '', stderr: 'no', duration: 5, timedOut: false });
  });
});

describe('a hook', () => {
  test('has defaults, and limits on its timeout', () => {
    expect(parse(hook.HookConfig, { type: 'TaskCompleted', command: 'npm test' })).toEqual({
      type: 'TaskCompleted',
      command: 'npm test',
      executor: 'shell',
      timeout: 120_000,
      enabled: true,
      onFailure: 'allow',
    });
    for (const timeout of [0, -1, 1.5, 3_600_001]) {
      expect(() => parse(hook.HookConfig, { type: 'TaskCompleted', command: 'x', timeout })).toThrow('timeout');
    }
    expect(() => parse(hook.HookConfig, { type: 'TaskCompleted', command: '' })).toThrow('command');
    expect(() => parse(hook.HookExitCode, 3)).toThrow();
  });
});

describe('a limit', () => {
  const twoBytes = 'ä';
  test.each<[string, z.ZodType, (value: string) => unknown, number]>([
    [
      'description of a task',
      task.CreateTaskInput,
      (description) => ({ title: 't', description }),
      limits.DESCRIPTION_BYTES,
    ],
    [
      'new description',
      task.ChangeTaskInput,
      (description) => ({ taskId: '1', description }),
      limits.DESCRIPTION_BYTES,
    ],
    ['result of a task', task.CompleteTaskInput, (result) => ({ taskId: '1', result }), limits.RESULT_BYTES],
    ['failure of a task', task.FailTaskInput, (reason) => ({ taskId: '1', reason }), limits.RESULT_BYTES],
    ['message', message.SendMessageInput, (content) => ({ toId: 'ann', content }), limits.MESSAGE_BYTES],
    ['broadcast', message.BroadcastInput, (content) => ({ content }), limits.MESSAGE_BYTES],
    ['plan', request.SubmitPlanInput, (content) => ({ content }), limits.PLAN_BYTES],
    ['feedback', request.RejectInput, (feedback) => ({ requestId: 'r', feedback }), limits.RESULT_BYTES],
    [
      'question',
      request.RaiseRequestInput,
      (content) => ({ kind: 'gate', memberId: 'a', content }),
      limits.RESULT_BYTES,
    ],
    [
      'answer',
      request.AnswerRequestInput,
      (feedback) => ({ requestId: 'r', approve: true, feedback }),
      limits.RESULT_BYTES,
    ],
    ['rejection of a task', task.RejectTaskInput, (feedback) => ({ taskId: '1', feedback }), limits.RESULT_BYTES],
    ['note', note.AddNoteInput, (words) => ({ text: words }), limits.NOTE_BYTES],
    ['changed note', note.UpdateNoteInput, (words) => ({ noteId: '1', text: words }), limits.NOTE_BYTES],
    ['spawn prompt', member.SpawnTeammateOptions, (prompt) => ({ name: 'ann', prompt }), limits.PROMPT_BYTES],
    ['result of a turn', member.ChangeMemberInput, (result) => ({ memberId: 'ann', result }), limits.RESULT_BYTES],
    [
      'description of a team',
      team.CreateTeamInput,
      (description) => ({ name: 'a', description }),
      limits.DESCRIPTION_BYTES,
    ],
  ])('counts the bytes of a %s', (_what, schema, input, bytes) => {
    parse(schema, input('x'.repeat(bytes)));
    parse(schema, input(twoBytes.repeat(bytes / 2)));
    const refused = `is longer than ${bytes} bytes: put it in a file and name the file`;
    expect(() => parse(schema, input('x'.repeat(bytes + 1)))).toThrow(refused);
    expect(() => parse(schema, input(`x${twoBytes.repeat(bytes / 2)}`))).toThrow(refused);
  });

  test.each<[string, z.ZodType, (value: string) => unknown, number]>([
    ['title', task.CreateTaskInput, (title) => ({ title }), limits.TITLE_LENGTH],
    ['active form', task.CreateTaskInput, (activeForm) => ({ title: 't', activeForm }), limits.LINE_LENGTH],
    ['summary', message.SendMessageInput, (summary) => ({ toId: 'ann', content: 'x', summary }), limits.LINE_LENGTH],
    ['role', member.JoinInput, (role) => ({ name: 'ann', role }), limits.LINE_LENGTH],
  ])('counts the characters of a %s', (_what, schema, input, length) => {
    for (const character of ['x', 'ä', '🤖']) {
      parse(schema, input(character.repeat(length)));
      expect(() => parse(schema, input(character.repeat(length + 1)))).toThrow(`must be at most ${length} characters`);
    }
  });

  test.each<[string, z.ZodType, (n: number) => unknown, number]>([
    ['dependencies of a task', task.CreateTaskInput, (n) => ({ title: 't', dependencies: ids(n) }), 64],
    ['dependencies to add', task.DependenciesInput, (n) => ({ taskId: '1', dependencies: ids(n) }), 64],
    ['messages in one step', message.ReceiptInput, (n) => ({ memberId: 'ann', messageIds: ids(n) }), 1000],
    ['tags of a note', note.AddNoteInput, (n) => ({ text: 'x', tags: ids(n) }), 16],
    ['teammates', team.CreateTeamInput, (n) => ({ name: 'a', maxTeammates: n }), 32],
  ])('counts the %s', (_what, schema, input, most) => {
    parse(schema, input(most));
    expect(() => parse(schema, input(most + 1))).toThrow(`must be at most ${most}`);
  });

  test('refuses empty values of required fields', () => {
    expect(() => parse(task.CreateTaskInput, { title: '' })).toThrow('title: must not be empty');
    expect(() => parse(task.DependenciesInput, { taskId: '1', dependencies: [] })).toThrow('dependencies');
    expect(() => parse(message.ReceiptInput, { memberId: 'ann', messageIds: [] })).toThrow('messageIds');
    expect(() => parse(team.UpdateTeamInput, { maxTeammates: 0 })).toThrow('maxTeammates');
    expect(() => parse(note.AddNoteInput, { text: '' })).toThrow('text: must not be empty');
    expect(() => parse(request.ApproveInput, { requestId: '' })).toThrow('requestId');
  });

  test('accepts the ids of broadcast copies and of requests', () => {
    const copy = `${'x'.repeat(limits.ID_LENGTH)}/${'a'.repeat(limits.NAME_LENGTH)}`;
    parse(message.ReceiptInput, { memberId: 'ann', messageIds: [copy] });
    expect(() => parse(message.ReceiptInput, { memberId: 'ann', messageIds: [`${copy}x`] })).toThrow('messageIds.0');
    const name = 'a'.repeat(limits.NAME_LENGTH);
    parse(request.ApproveInput, { requestId: `plan_approval-${Date.UTC(2286, 11)}@${name}@${name}` });
  });
});

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(i + 1));
}

function expectRoundTrip<S extends z.ZodType>(schema: S, value: z.output<S>): void {
  const json: unknown = JSON.parse(JSON.stringify(z.encode(schema, value)));
  expect(z.decode(schema, json as z.input<S>)).toEqual(value);
}

describe('a text', () => {
  test('of a message is more than spaces', () => {
    const accepts = (content: string) => message.SendMessageInput.safeParse({ toId: 'ann', content }).success;
    expect([accepts(' \n\t'), accepts(''), accepts(' x ')]).toEqual([false, false, true]);
  });

  test('that is no name becomes one of allowed length', () => {
    const long = suggestSlug('Grüße an '.repeat(20));
    expect(long).toMatch(/^grusse-an-|^gru-e-an-/);
    expect(isSlug(long)).toBe(true);
    expect(long.length).toBeLessThanOrEqual(limits.NAME_LENGTH);
    expect(suggestSlug('!!')).toBe('worker-1');
  });

  test('with unknown keys names each of them', () => {
    expect(() => parse(message.SendMessageInput, { toId: 'ann', content: 'x', one: 1, two: 2 })).toThrow(
      'has no key "one", "two"',
    );
  });
});

describe('a member', () => {
  test('is vacant or a person only without an agent', () => {
    const agent = { kind: 'exec' };
    const types = ['none', 'person', 'exec'];
    expect(types.map((agentType) => isVacant({ agentType }))).toEqual([true, false, false]);
    expect(types.map((agentType) => isPerson({ agentType }))).toEqual([false, true, false]);
    expect(types.map((agentType) => isVacant({ agent, agentType }) || isPerson({ agent, agentType }))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('what is shown of work', () => {
  test('may say that it lands, that its holder has left, that a model refused it, and that commits were replaced', () => {
    const work = { memberId: 'ann', epoch: 1, base: '1'.repeat(40), state: 'submitted' };
    const flags = { isLanding: true, refused: true, left: true };
    expect(TaskWork.parse({ ...work, ...flags })).toMatchObject(flags);
    for (const flag of Object.keys(flags)) expect(TaskWork.safeParse({ ...work, [flag]: false }).success).toBe(false);
    const standing = { ...WORK, tip: WORK.base, rewritten: true };
    expect(StandingWork.parse(standing)).toMatchObject({ rewritten: true });
    expect(StandingWork.safeParse({ ...standing, rewritten: false }).success).toBe(false);
  });
});

test('an update of a task list names its task elsewhere', () => {
  expect(task.UpdateTaskInput.parse({ status: 'completed' })).toMatchObject({ status: 'completed' });
});

test('messages are shown again only to those who ask for it', () => {
  const input = { memberId: 'ann', messageIds: ['m1'], sessionId: 's1' };
  expect(message.DeliverInput.parse(input)).toEqual({ ...input, redelivery: false });
});
