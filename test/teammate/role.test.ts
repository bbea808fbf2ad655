import { expect, test } from 'vitest';
import { describeRole } from '../../src/teammate/role.ts';
import type { RoleParts } from '../../src/teammate/role.ts';

const PARTS: RoleParts = {
  teamId: 'demo',
  memberId: 'ada',
  leadId: 'boss',
  leads: false,
  delegates: false,
  role: 'tester',
  agents: [],
  hasTools: true,
};

test('a teammate learns its name and what happens with its last words, in at most 250 words', () => {
  const text = describeRole({ ...PARTS, prompt: 'Use vitest.' });
  expect(text).toContain('You are "ada" (tester), a teammate in the team "demo" of coding agents, led by "boss".');
  expect(text).toContain('it becomes the result of the task');
  expect(text).toContain('SendMessage');
  expect(text.endsWith('Use vitest.')).toBe(true);
  expect(text.split(/\s+/).length).toBeLessThan(250);
  expect(describeRole({ ...PARTS, hasTools: false })).not.toContain('SendMessage');
  const alone = describeRole({ ...PARTS, leadId: undefined });
  expect(alone).toContain('of coding agents, without a lead.');
  expect(alone).not.toContain('your lead');
});

test('a lead learns whom it may add, when it is woken and what happens with its last words, in at most 250 words', () => {
  const text = describeRole({ ...PARTS, leads: true, agents: ['codex', 'gemini'], prompt: 'comes as its first turn' });
  expect(text).toContain('SpawnTeammate starts a teammate (codex, gemini).');
  expect(text).toContain('do not wait or poll');
  expect(text).toContain('end with the answer to the goal');
  expect(text).not.toContain('comes as its first turn');
  expect(text.split(/\s+/).length).toBeLessThan(250);
  expect(describeRole({ ...PARTS, leads: true })).not.toContain('SpawnTeammate');
  expect(describeRole({ ...PARTS, leads: true, delegates: true })).toContain('You only coordinate');
});
