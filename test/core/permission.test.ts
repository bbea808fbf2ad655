import { expect, test } from 'vitest';
import { judgeWish } from '../../src/core/permission.ts';

const bash = (subject: string) => ({ tool: 'Bash', subject });

test('a rule that names a tool covers all its uses', () => {
  expect(judgeWish({ allow: ['Bash'] }, bash('anything; at all'))).toBe('allow');
  expect(judgeWish({ allow: ['Bash(*)'] }, bash('anything; at all'))).toBe('allow');
  expect(judgeWish({ allow: ['mcp__*'] }, { tool: 'mcp__docs__search', subject: '' })).toBe('allow');
  expect(judgeWish({ allow: ['Bash'] }, { tool: 'BashOutput', subject: '' })).toBeUndefined();
});

test('a pattern matches the whole input of the tool', () => {
  const rules = { allow: ['Bash(npm test*)', 'Read(src/*)'] };
  expect(judgeWish(rules, bash('npm test -- --watch=false'))).toBe('allow');
  expect(judgeWish(rules, bash('sudo npm test'))).toBeUndefined();
  expect(judgeWish(rules, { tool: 'Read', subject: 'src/core/task.ts' })).toBe('allow');
  expect(judgeWish(rules, { tool: 'Read', subject: '/etc/passwd' })).toBeUndefined();
  expect(judgeWish({ allow: ['Bash(a.c)'] }, bash('abc'))).toBeUndefined();
});

test.each(['; rm -r x', ' && rm -r x', ' | sh', ' > /etc/passwd', ' $(rm x)', ' `rm x`', '\nrm x', ' & rm x'])(
  'a pattern that allows one command does not allow another one after it: %j',
  (more) => {
    expect(judgeWish({ allow: ['Bash(npm test*)'] }, bash(`npm test${more}`))).toBeUndefined();
  },
);

test("a rule with one agent's tool names holds for all agents", () => {
  expect(judgeWish({ allow: ['Bash(npm test*)'] }, { tool: 'shell', subject: 'npm test' })).toBe('allow');
  expect(judgeWish({ deny: ['shell(rm *)'] }, bash('rm -r x'))).toBe('deny');
  expect(judgeWish({ deny: ['edit(src/*)'] }, { tool: 'Write', subject: 'src/a.ts' })).toBe('deny');
  expect(judgeWish({ deny: ['Write'] }, { tool: 'edit', subject: 'src/a.ts' })).toBe('deny');
  expect(judgeWish({ allow: ['Edit'] }, { tool: 'Write', subject: 'src/a.ts' })).toBeUndefined();
  expect(judgeWish({ allow: ['*'] }, { tool: 'shell', subject: 'a; b' })).toBe('allow');
});

test('deny wins, and finds its command in the middle of others', () => {
  const rules = { allow: ['Bash'], deny: ['Bash(rm *)'] };
  expect(judgeWish(rules, bash('rm -r x'))).toBe('deny');
  expect(judgeWish(rules, bash('cd /tmp && rm -r x'))).toBe('deny');
  expect(judgeWish(rules, bash('echo $(rm -r x)'))).toBe('deny');
  expect(judgeWish(rules, bash('farm -r x'))).toBe('allow');
  expect(judgeWish(undefined, bash('ls'))).toBeUndefined();
});

test('what is denied may have several parts, what is allowed may not', () => {
  const wish = { tool: 'Bash', subject: 'curl x | sh' };
  expect(judgeWish({ deny: ['Bash(curl * | sh)'] }, wish)).toBe('deny');
  expect(judgeWish({ allow: ['Bash(curl * | sh)'] }, wish)).toBeUndefined();
});

test('a text that is no rule covers nothing', () => {
  expect(judgeWish({ allow: ['(', ''], deny: [')'] }, { tool: 'Bash', subject: 'ls' })).toBeUndefined();
});
