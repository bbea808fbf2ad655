// Runs before `npm test`: says which programs the tests use that npm does not bring, and installs them where it may.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface Tool {
  readonly program: string;
  readonly debianPackage: string;
  readonly why: string;
}

const TOOLS: readonly Tool[] = [
  { program: 'strace', debianPackage: 'strace', why: 'to count flushes and to inject I/O errors' },
];

const missing = TOOLS.filter(({ program }) => !isInstalled(program));
if (missing.length > 0) {
  installOnDebian(missing);
  for (const { program, debianPackage, why } of missing.filter((tool) => !isInstalled(tool.program))) {
    console.warn(
      `${program} is missing (${why}): install the package ${debianPackage}; until then its tests are skipped.`,
    );
  }
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Best effort: whatever goes wrong here shows as a tool that is still missing. */
function installOnDebian(tools: readonly Tool[]): void {
  const asRoot = rootPrefix();
  if (!existsSync('/etc/debian_version') || asRoot === undefined) return;
  const packages = tools.map(({ debianPackage }) => debianPackage);
  console.log(`Installing ${packages.join(', ')} for the tests.`);
  const install = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  // The package lists of a fresh image are empty, those of a used one are good enough: update only when needed.
  if (run([...asRoot, 'apt-get', ...install])) return;
  if (run([...asRoot, 'apt-get', 'update', '-q'])) run([...asRoot, 'apt-get', ...install]);
}

/** How to become root without being asked anything; undefined if there is no way. */
function rootPrefix(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return isInstalled('sudo') && run(['sudo', '-n', 'true']) ? ['sudo', '-n'] : undefined;
}

function run([program = '', ...args]: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, args, { stdio: 'ignore', env, timeout: 180_000 }).status === 0;
}
