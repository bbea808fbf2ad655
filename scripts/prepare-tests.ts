// Runs before `npm test`. It installs programs that the tests use and npm does not provide, or names them if it may
// not. It installs the agents, which have their own manifest because they are large, and newer versions of git. It builds
// what the tests start. All run in parallel, since most of them wait for downloads.
import { existsSync } from 'node:fs';
import { AGENTS_FOLDER } from '../test/agents/installed.ts';
import { isInstalled, TOOLS } from '../test/tools.ts';
import { installGits } from '../test/workspaces/gits.ts';
import { buildUi } from './build-ui.ts';
import { installAgents } from './install-agents.ts';
import { runProgram, sayInstalling } from './run-program.ts';
import { buildIfStale } from './stale.ts';

const [agents = AGENTS_FOLDER] = process.argv.slice(2);
await Promise.all([
  installTools(),
  installNewerGits(),
  installAgents(agents, 'the agents that the tests run: once, about 1 GB'),
  // Programs that the tests start take half the time to start when they are built.
  buildIfStale().then(() => buildUi({ ifStale: true })),
]);

/** Best effort: it names programs that stay missing, and their tests are skipped. */
async function installTools(): Promise<void> {
  const missing = TOOLS.filter(({ program }) => !isInstalled(program));
  if (missing.length > 0) await installOnDebian(missing.map(({ debianPackage }) => debianPackage));
  const needed = missing.filter(({ program, isOptional }) => !isOptional && !isInstalled(program));
  for (const { program, debianPackage, why } of needed) {
    console.warn(
      `${program} is missing (${why}): install the package ${debianPackage}; until then its tests are skipped.`,
    );
  }
}

/** Best effort, too: some tests are repeated on newer versions of git. */
async function installNewerGits(): Promise<void> {
  const why = await installGits();
  if (why !== undefined) console.warn(`Newer versions of git are missing (${why}); their tests are skipped.`);
}

async function installOnDebian(packages: readonly string[]): Promise<void> {
  const asRoot = await rootPrefix();
  if (!existsSync('/etc/debian_version') || asRoot === undefined) return;
  const install = (...names: readonly string[]) =>
    run([...asRoot, 'apt-get', 'install', '-y', '-q', '--no-install-recommends', ...names]);
  await sayInstalling(`${packages.join(', ')} for the tests`, async () => {
    // A fresh image has no package lists; those of a used one are good enough. So update only if the install fails.
    if (await install(...packages)) return;
    await run([...asRoot, 'apt-get', 'update', '-q']);
    if (await install(...packages)) return;
    // One package that a system does not have keeps apt-get from installing the others.
    for (const one of packages) await install(one);
  });
}

/** The command prefix that runs as root without a password prompt; undefined if there is none. */
async function rootPrefix(): Promise<string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  return (await run(['sudo', '-n', 'true'])) ? ['sudo', '-n'] : undefined;
}

async function run(words: readonly string[]): Promise<boolean> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return (await runProgram(words, { env })).status === 0;
}
