// Runs before `npm test`: names the programs that the tests use and npm does not bring, and installs them where it may;
// then the agents, which have a manifest of their own because they are large and no part of building anything.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { AGENTS_FOLDER, areAgentsWhole, noteAgentsWhole } from '../test/agents/installed.ts';
import { isInstalled, TOOLS } from '../test/tools.ts';
import type { Tool } from '../test/tools.ts';
import { buildUi } from './build-ui.ts';

const missing = TOOLS.filter(({ program }) => !isInstalled(program));
if (missing.length > 0) installOnDebian(missing);
for (const { program, debianPackage, why } of missing.filter((tool) => !isInstalled(tool.program))) {
  console.warn(
    `${program} is missing (${why}): install the package ${debianPackage}; until then its tests are skipped.`,
  );
}

const [agents = AGENTS_FOLDER] = process.argv.slice(2);
if (!areAgentsWhole(agents)) installAgents(agents);

await buildUi({ ifStale: true });

/** About a gigabyte and half a minute, once. No install scripts: two of them would build, one may download. */
function installAgents(folder: string): void {
  console.log('Installing the agents that the tests run: once, about 1 GB.');
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status === 0) return noteAgentsWhole(folder);
  const why = error?.message ?? /npm error (?!code|errno|syscall)(.*)/.exec(stderr)?.[1] ?? 'it took too long';
  console.warn(`The agents could not be installed (${why}): their tests are skipped. Next time it is tried again.`);
}

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
