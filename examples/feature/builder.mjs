// Adds one function to the end of src/text.mjs. Two members do this at the same time, so the second one meets a conflict.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const FILE = 'src/text.mjs';
const FUNCTIONS = {
  ann: 'export const shout = (text) => `${text.toUpperCase()}!`;\n',
  bob: "export const countWords = (text) => text.split(' ').length;\n",
};

const { memberId } = JSON.parse(await text(process.stdin));
if (readFileSync(FILE, 'utf8').includes('<<<<<<<')) {
  // The work came back: what landed and its own change stand between markers. Both are wanted.
  const lines = readFileSync(FILE, 'utf8').split('\n');
  writeFileSync(FILE, lines.filter((line) => !/^(<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)/.test(line)).join('\n'));
  console.log('kept both functions');
} else {
  appendFileSync(FILE, FUNCTIONS[memberId]);
  // The daemon saves by itself after each turn. Saved now, the others hear at once that two change the same file.
  ask('work', 'save', memberId);
  // Only for the show: ann hands in when both have changed the file, and bob when ann's work has landed.
  if (memberId === 'ann') await until(() => ask('work').overlaps?.length > 0);
  else await until(() => ask('task', 'show', '1').status === 'completed');
  console.log(`added ${FUNCTIONS[memberId].split(' ')[2]}()`);
}

function ask(...words) {
  return JSON.parse(execFileSync('troupe', [...words, '--json'], { encoding: 'utf8' }));
}

async function until(isTrue) {
  while (!isTrue()) await sleep(300);
}
