// Tries to show one explanation of the bug by running the code. The one that holds becomes a task for the fixer.
import { execFileSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { total } from './src/cart.mjs';

const EXPLANATIONS = {
  'the count of an item is ignored': () => total([{ price: 100, count: 3 }]) !== 300,
  'an empty cart costs something': () => total([]) !== 0,
  'at exactly 100 euros nothing is taken off': () => total([{ price: 10_000 }]) !== 9_000,
};

const { task } = JSON.parse(await text(process.stdin));
const guess = task.title.replace('Is it true that ', '').replace('?', '');
const isTrue = EXPLANATIONS[guess]();
// Notes stay with the team: nobody looks for the same thing again.
troupe('notes', 'add', `${isTrue ? 'Shown' : 'Not so'}: ${guess}`);
if (isTrue) troupe('task', 'add', `Fix: ${guess}`, '--assign', 'fixer');
console.log(isTrue ? 'Yes, shown by running it' : 'No');

function troupe(...words) {
  execFileSync('troupe', words, { stdio: 'ignore' });
}
