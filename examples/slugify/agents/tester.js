import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fillIn, readTurn, send, write } from './turn.js';

const { task } = await readTurn();

if (task.metadata.key === 'tests') {
  write('test/slugify.test.js', tests());
  send('builder', 'The tests are in test/slugify.test.js: mind the accents.');
  console.log('4 tests');
} else {
  const { slugify } = await import(pathToFileURL(join(process.cwd(), 'src', 'slugify.js')).href);
  const began = performance.now();
  for (let i = 0; i < 100_000; i++) slugify('Crème  Brûlée, encore!');
  const each = ((performance.now() - began) / 100_000) * 1000;
  const found = `${each.toFixed(2)} us per call`;
  fillIn('Speed', found);
  console.log(found);
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
