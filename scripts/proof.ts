// Runs the tests that repeat something (kills, races, random histories) as often as a proof needs: all, or the named
// ones. TROUPE_PROOF=N in the environment multiplies the number of repetitions; TROUPE_SEED repeats a run.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

process.chdir(dirname(import.meta.dirname));
const words = process.argv.slice(2);
const repeating = globSync('test/**/*.test.ts', { exclude: ['test/**/node_modules/**'] })
  .filter((path) => /from '[./]*\/proof\.ts'/.test(readFileSync(path, 'utf8')))
  .sort();
const files = words.some((word) => !word.startsWith('-')) ? words : [...words, ...repeating];
const env = { ...process.env, TROUPE_PROOF: process.env['TROUPE_PROOF'] ?? '1' };
console.log(`Proof: ${files.join(' ')}`);
process.exitCode = spawnSync('vitest', ['run', ...files], { stdio: 'inherit', env }).status ?? 1;
