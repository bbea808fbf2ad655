import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in which the agents of the tests are pinned and installed. */
export const AGENTS_FOLDER = import.meta.dirname;

const PLATFORM = `${process.platform}-${process.arch}`;

/**
 * The possible paths of each agent's program in the packages folder. Two are paths of binaries, because their packages
 * put these in place with install scripts, which we do not run.
 */
const PROGRAMS = {
  claude: [`@anthropic-ai/claude-code-${PLATFORM}/claude`, `@anthropic-ai/claude-code-${PLATFORM}-musl/claude`],
  codex: ['.bin/codex'],
  gemini: ['.bin/gemini'],
  acpx: ['.bin/acpx'],
  opencode: [`opencode-${PLATFORM}/bin/opencode`, `opencode-${PLATFORM}-baseline/bin/opencode`],
} as const;

/** An agent that the tests run. `acpx` is a client of agents. */
export type InstalledAgent = Exclude<keyof typeof PROGRAMS, 'acpx'>;

/**
 * The program of an agent, or undefined if it is not installed; then its tests are skipped. With TROUPE_REQUIRE_AGENTS
 * a missing agent is an error, for runs that must not skip these tests unnoticed.
 */
export function agentProgram(name: keyof typeof PROGRAMS): string | undefined {
  const path = PROGRAMS[name]
    .map((place) => join(AGENTS_FOLDER, 'node_modules', place))
    .find((place) => existsSync(place));
  if (path === undefined && process.env['TROUPE_REQUIRE_AGENTS']) {
    throw new Error(`${name} is not installed for ${PLATFORM}: "node scripts/prepare-tests.ts" says why`);
  }
  return path;
}

/** Whether the installation of the lock file's packages was completed. */
export function areAgentsWhole(folder = AGENTS_FOLDER): boolean {
  const stamp = stampFile(folder);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(folder);
}

/** Records that the installation is complete. The next installation removes this record first, with all the rest. */
export function noteAgentsWhole(folder = AGENTS_FOLDER): void {
  writeFileSync(stampFile(folder), stampOf(folder));
}

function stampFile(folder: string): string {
  return join(folder, 'node_modules', '.whole');
}

function stampOf(folder: string): string {
  const lock = createHash('sha256').update(readFileSync(join(folder, 'package-lock.json')));
  return `${lock.digest('hex')} ${PLATFORM}\n`;
}
