import { expect, test } from 'vitest';
import { findInCommand, findInVariable, findSecrets } from '../../src/core/secret.ts';

test.each([
  ['ANTHROPIC_API_KEY', 'something-long'],
  ['PGPASSWORD', 'hunter2'],
  ['TOKEN_2', '0123456789'],
  ['client_secret', 'abcdef'],
  ['AWS_SECRET_ACCESS_KEY', '/abcdefghijklmno'],
  ['HARMLESS', 'ghp_abcdefghij0123456789'],
  ['DATABASE_URL', 'postgres://me:hunter2@db/x'],
  ['DATABASE_URL', '${SCHEME}postgres://me:hunter2@db/x'],
  ['HEADER', 'token sk-ant-0123456789'],
])('%s: %s is a secret that is written out', (name, value) => {
  expect(findInVariable(name, value)).toMatch(/write \$\{/);
});

test.each([
  ['API_KEY', '${API_KEY}'],
  ['TOKEN', 'Bearer ${MY_TOKEN}'],
  ['DATABASE_URL', 'postgres://me:${PASSWORD}@db/x'],
  ['MAX_TOKENS', '200000'],
  ['USE_TOKEN', 'true'],
  ['API_KEY_FILE', '/run/secrets/key'],
  ['GOOGLE_APPLICATION_CREDENTIALS', '/home/me/google.json'],
  ['SIGNING_PUBLIC_KEY', 'MCowBQYDK2VwAyEA'],
  ['KEYBOARD', 'us-international'],
  ['REGISTRY', 'http://127.0.0.1:4873/'],
])('%s: %s is none', (name, value) => {
  expect(findInVariable(name, value)).toBeUndefined();
});

test('what a shell fills in is no secret in its command', () => {
  expect(
    findInCommand('curl https://me:$PASSWORD@host https://me:${P}@host https://me:$(pass x)@host'),
  ).toBeUndefined();
  expect(findInCommand('curl https://me:hunter2@host')).toBeDefined();
});

test('all that is found is told with its place, and none of it is repeated', () => {
  const found = findSecrets({
    command: ['run', 'sk-live-0123456789'],
    args: ['AKIAIOSFODNN7EXAMPLE'],
    env: { A: 'plain', MY_SECRET: 'hunter2' },
  });
  expect(found.map(({ path }) => path)).toEqual([
    ['command', 1],
    ['args', 0],
    ['env', 'MY_SECRET'],
  ]);
  expect(JSON.stringify(found)).not.toMatch(/hunter2|sk-live|AKIA/);
});
