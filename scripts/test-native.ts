// Runs the tests of Claude Code's own teams with every version that was measured; `npm test` runs them with the newest.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { ALL_VERSIONS, VERSIONS_FOLDER } from '../test/native/versions.ts';
import { installAgents } from './install-agents.ts';

process.chdir(dirname(import.meta.dirname));
if (await installAgents(VERSIONS_FOLDER, 'the older versions of Claude Code: once, about 350 MB')) {
  const words = process.argv.slice(2);
  const files = words.some((word) => !word.startsWith('-')) ? words : [...words, 'test/native/'];
  const env = { ...process.env, [ALL_VERSIONS]: '1' };
  process.exitCode = spawnSync('vitest', ['run', ...files], { stdio: 'inherit', env }).status ?? 1;
} else {
  process.exitCode = 1;
}
