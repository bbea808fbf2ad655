import { expect, test } from 'vitest';
import { findInCommand, findInVariable, findSecrets } from '../../src/core/secret.ts';
import { mustEnd } from '../must-end.ts';

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
  ['EXTRA_HEADERS', 'Authorization: Bearer 0a1b2c3d4e'],
  ['NPM_AUTH', 'npm_0123456789abcdefghijklmnopqrstuvwxyz'],
  ['DEPLOY_KEY', '/0a1b2c3d/4e5f'],
  ['DB_PASSWORD', './dots.and/slashes'],
])('%s: %s is a literal secret', (name, value) => {
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
  ['TOKEN_LIMIT', '1000000'],
  ['API_KEY_HEADER', 'X-Api-Key'],
  ['SORT_KEY', 'created_at'],
  ['HOTKEY', 'ctrl+shift+k'],
  ['SSH_KEY', '~/.ssh/id_ed25519'],
  ['DEPLOY_KEY', '/home/me/.ssh/deploy'],
  ['TLS_KEY', './certs/server.key'],
  ['OPENAI_API_KEY', 'ollama'],
  ['OPENAI_API_KEY', 'sk-no-key-required'],
  ['FOLDER', 'packages/sk-validators'],
])('%s: %s is not a secret', (name, value) => {
  expect(findInVariable(name, value)).toBeUndefined();
});

test('a shell variable is not a secret in a command', () => {
  expect(
    findInCommand('curl https://me:$PASSWORD@host https://me:${P}@host https://me:$(pass x)@host'),
  ).toBeUndefined();
  expect(findInCommand('curl https://me:hunter2@host')).toBeDefined();
});

test.each([
  'API_KEY=hunter2hunter2 ./gate.sh',
  'cd x; DB_PASSWORD="hunter2 and more" ./gate.sh',
  "env GITHUB_TOKEN='hunter2hunter2' gh pr list",
  'login --password=hunter2 --user=me',
  '--api-key=0a1b2c3d4e',
  'deploy --token 0a1b2c3d4e --yes',
  'login -password "hunter2 and more"',
  'curl -H "Authorization: Bearer 0a1b2c3d4e" https://x',
])('the command %s contains a name and its secret', (command) => {
  expect(findInCommand(command)).toMatch(/^has a secret in plain text/);
});

test.each([
  'API_KEY=$MY_KEY ./gate.sh',
  'API_KEY="${MY_KEY}" DB_PASSWORD=$(pass show db) ./gate.sh',
  'npm_config_registry=http://127.0.0.1:4873/ npm_config_loglevel=silent npm test',
  'sort --key=2,2n --field-separator=, names',
  '--sort-key=created_at',
  '--token-limit=1000000',
  'deploy --token $TOKEN --token-file secrets.txt --token "$(pass show x)"',
  'deploy --token --verbose',
  'deploy --token ./token.txt --max-tokens 200000',
  'TLS_KEY=./certs/server.key npm test',
  'curl -H "Authorization: Bearer $TOKEN" https://x?key=created_at',
  'OPENAI_API_KEY=ollama codex',
  'env_key="MODEL_KEY"',
  'node bench.js --max-tokens=200000 ./sk-validators',
])('the command %s contains no secret', (command) => {
  expect(findInCommand(command)).toBeUndefined();
});

test.each(['A_KEY=', '--token=', '--token ', "K_KEY='", 'sk-', 'npm_', '=', 'Authorization: '])(
  'a text of repeated %s is checked in linear time',
  (piece) => {
    // Comparing each of a million characters with all later ones takes far longer than the timeout of a test.
    const text = piece.repeat(1_000_000 / piece.length);
    mustEnd(() => {
      findInCommand(text);
      findInVariable('X', text);
    });
  },
);

test('all secrets are reported with their place, and none is repeated in the message', () => {
  const found = findSecrets({
    command: ['run', 'sk-live-0123456789'],
    args: ['AKIAIOSFODNN7EXAMPLE', '--token', 'hunter2hunter2', '--token', '${TOKEN}', '--token', '--quiet-now'],
    env: { A: 'plain', MY_SECRET: 'hunter2' },
  });
  expect(found.map(({ path }) => path)).toEqual([
    ['command', 1],
    ['args', 0],
    ['args', 2],
    ['env', 'MY_SECRET'],
  ]);
  expect(JSON.stringify(found)).not.toMatch(/hunter2|sk-live|AKIA/);
});
