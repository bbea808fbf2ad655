import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { git, readTurn, repo, send } from './turn.js';

const { task } = await readTurn();

if (task.metadata.key === 'tests') {
  writeFileSync(join(repo, 'test', 'slugify.test.js'), tests());
  git('add', '.');
  git('commit', '--quiet', '--message', 'test: what slugify must do');
  send('builder', 'The tests are in test/slugify.test.js: mind the accents.');
  console.log('4 tests');
} else {
  const { slugify } = await import(pathToFileURL(join(repo, 'src', 'slugify.js')).href);
  const began = performance.now();
  for (let i = 0; i < 100_000; i++) slugify('Crème  Brûlée, encore!');
  const each = ((performance.now() - began) / 100_000) * 1000;
  console.log(`${each.toFixed(2)} us per call`);
}

function tests() {
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/slugify.js';

test('joins words', () => assert.equal(slugify('Hello World'), 'hello-world'));
test('drops accents', () => assert.equal(slugify('Crème Brûlée'), 'creme-brulee'));
test('folds runs', () => assert.equal(slugify('a  --  b'), 'a-b'));
test('trims ends', () => assert.equal(slugify(' hi! '), 'hi'));
`;
}
