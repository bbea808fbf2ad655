// Runs before `npm test`: names the programs that the tests use and npm does not bring, and installs them where it may;
// then the agents, which have a manifest of their own because they are large and no part of building anything.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { AGENTS_FOLDER } from '../test/agents/installed.ts';
import { isInstalled, TOOLS } from '../test/tools.ts';
import type { Tool } from '../test/tools.ts';
import { buildUi } from './build-ui.ts';
import { installAgents } from './install-agents.ts';
import { buildIfStale } from './stale.ts';

const missing = TOOLS.filter(({ program }) => !isInstalled(program));
if (missing.length > 0) installOnDebian(missing);
for (const { program, debianPackage, why } of missing.filter((tool) => !isInstalled(tool.program))) {
  console.warn(
    `${program} is missing (${why}): install the package ${debianPackage}; until then its tests are skipped.`,
  );
}

const [agents = AGENTS_FOLDER] = process.argv.slice(2);
installAgents(agents, 'the agents that the tests run: once, about 1 GB');

// What the tests start starts in half the time when it is built.
buildIfStale();
await buildUi({ ifStale: true });

/** Best effort: whatever goes wrong here shows as a tool that is still missing. */
function installOnDebian(tools: readonly Tool[]): void {
  const asRoot = rootPrefix();
  if (!existsSync('/etc/debian_version') || asRoot === undefined) return;
  const packages = tools.map(({ debianPackage }) => debianPackage);
  console.log(`Installing ${packages.join(', ')} for the tests.`);
  const install = [...asRoot, 'apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages];
  // A fresh image has no package lists, a used one has lists that are good enough: update only when it fails without.
  if (!run(install) && run([...asRoot, 'apt-get', 'update', '-q'])) run(install);
}

/** How to become root without being asked for anything; undefined if there is no way. */
function rootPrefix(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return run(['sudo', '-n', 'true']) ? ['sudo', '-n'] : undefined;
}

function run([program = '', ...args]: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, args, { stdio: 'ignore', env, timeout: 180_000 }).status === 0;
}
