// The switch of mutants, loaded by instrumented modules: in the process of the tests, which turns it by `set`, and in the processes that
// tests start, which find in switch.json beside it which mutant is on.
'use strict';

const { appendFileSync, readFileSync } = require('node:fs');
const path = require('node:path');

const file = path.join(__dirname, 'switch.json');
const { on: first, most: firstMost, seen: seenFile } = JSON.parse(readFileSync(file, 'utf8'));

let on = first;
let most = firstMost ?? Infinity;
let times = 0;
/** How often each mutant was reached: a list of numbers in the process of the tests, a file for the processes that tests start. */
let reached;
const seen = new Set();

/** Whether a mutant is on. */
function isOn(id) {
  if (reached !== undefined) reached[id]++;
  else if (seenFile !== undefined && !seen.has(id)) {
    seen.add(id);
    appendFileSync(seenFile, `${id}\n`);
  }
  if (on !== id) return false;
  // A loop without end passes here in each round, as a rule.
  if (++times > most) throw new Error(`mutant ${id} was reached ${times} times: it seems to loop`);
  return true;
}

isOn.set = (next) => {
  on = next.on;
  most = next.most ?? Infinity;
  times = 0;
};

isOn.count = (counts) => {
  reached = counts;
};

module.exports = isOn;
