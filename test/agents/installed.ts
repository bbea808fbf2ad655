import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the agents that the tests run are pinned and installed. */
export const AGENTS_FOLDER = import.meta.dirname;

const PLATFORM = `${process.platform}-${process.arch}`;

/**
 * Where each agent's program may be, in the folder of the packages. Two are named by their binaries, because their
 * packages put these in place with install scripts, which we do not run.
 */
const PROGRAMS = {
  claude: [`@anthropic-ai/claude-code-${PLATFORM}/claude`, `@anthropic-ai/claude-code-${PLATFORM}-musl/claude`],
  codex: ['.bin/codex'],
  gemini: ['.bin/gemini'],
  opencode: [`opencode-${PLATFORM}/bin/opencode`, `opencode-${PLATFORM}-baseline/bin/opencode`],
} as const;

/** An agent that the tests run. */
export type InstalledAgent = keyof typeof PROGRAMS;

/**
 * The program of an agent, or undefined where it is not installed: its tests are then skipped. Where somebody relies on
 * them, TROUPE_REQUIRE_AGENTS makes that an error, since nobody would notice.
 */
export function agentProgram(name: InstalledAgent): string | undefined {
  const path = PROGRAMS[name]
    .map((place) => join(AGENTS_FOLDER, 'node_modules', place))
    .find((place) => existsSync(place));
  if (path === undefined && process.env['TROUPE_REQUIRE_AGENTS']) {
    throw new Error(`${name} is not installed for ${PLATFORM}: "node scripts/prepare-tests.ts" says why`);
  }
  return path;
}

/** Whether what the lock file names is installed, to the end. */
export function areAgentsWhole(folder = AGENTS_FOLDER): boolean {
  const stamp = stampFile(folder);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(folder);
}

/** Notes that the installation went to its end; a later one removes the note first, with all the rest. */
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
