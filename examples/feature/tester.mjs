// Writes a test of everything that landed.
import { writeFileSync } from 'node:fs';

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords, shout, trim } from './text.mjs';

test('the functions work together', () => {
  assert.equal(shout(trim(' two words ')), 'TWO WORDS!');
  assert.equal(countWords('two words'), 2);
});
`;
writeFileSync('src/text.test.mjs', TEST);
console.log('src/text.test.mjs');
