// Runs the tests of agents: all, or the named ones.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FOLDER = 'test/agents';
process.chdir(dirname(import.meta.dirname));

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const unknown = names.filter((name) => !existsSync(join(FOLDER, `${name}.test.ts`)));
if (unknown.length > 0) {
  const known = globSync(join(FOLDER, '*.test.ts')).map((path) => basename(path, '.test.ts'));
  console.error(`There are no tests of ${unknown.join(', ')}. There are: ${known.sort().join(', ')}.`);
  process.exitCode = 2;
} else {
  const files = names.length > 0 ? names.map((name) => join(FOLDER, `${name}.test.ts`)) : [`${FOLDER}/`];
  process.exitCode = spawnSync('vitest', ['run', ...options, ...files], { stdio: 'inherit' }).status ?? 1;
}
