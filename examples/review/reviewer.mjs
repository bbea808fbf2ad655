// One program for three members. Each looks for one thing, and writes to the editor what it found.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const LOOKS_FOR = {
  security: [/\beval\(/, 'runs what somebody typed as code'],
  performance: [/for .*indexOf\(/, 'looks through the whole list for each name'],
  clarity: [/const tmp\b/, 'has a name that says nothing'],
};

const { memberId } = JSON.parse(await text(process.stdin));
const [pattern, problem] = LOOKS_FOR[memberId];
const lines = readFileSync('shop.mjs', 'utf8').split('\n');
const findings = lines.flatMap((line, i) => (pattern.test(line) ? [`shop.mjs:${i + 1} ${problem}`] : []));
for (const finding of findings) execFileSync('troupe', ['send', 'editor', finding], { stdio: 'ignore' });
console.log(`${findings.length} found: ${findings.join('; ')}`);
