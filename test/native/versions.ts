import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentProgram } from '../agents/installed.ts';
import { VERSIONS } from '../bridge/requirements.ts';

/** A version of Claude Code whose behaviour was measured. */
export type NativeVersion = (typeof VERSIONS)[number];

/** The newest version, which `npm test` installs with the other agents. */
export const NEWEST = '2.1.325' satisfies NativeVersion;

/** The folder in which older versions are pinned; only `npm run test:native` installs them. */
export const VERSIONS_FOLDER = join(import.meta.dirname, 'versions');

/** Set by `npm run test:native`: the tests then run over all versions. */
export const ALL_VERSIONS = 'TROUPE_TEST_NATIVE';

/** The versions to test: the newest, or all if `TROUPE_TEST_NATIVE` is set. */
export const TESTED_VERSIONS: readonly NativeVersion[] = process.env[ALL_VERSIONS] ? VERSIONS : [NEWEST];

const PLATFORM = `${process.platform}-${process.arch}`;

/** The program of a version, or undefined if it is not installed; then its tests are skipped. */
export function nativeProgram(version: NativeVersion): string | undefined {
  if (version === NEWEST) return agentProgram('claude');
  const packages = join(VERSIONS_FOLDER, 'node_modules');
  const places =
    version === '2.1.37'
      ? ['claude-code-2.1.37/cli.js']
      : ['', '-musl'].map((libc) => `@anthropic-ai/claude-code-${PLATFORM}${libc}/claude`);
  const found = places.map((place) => join(packages, place)).find((place) => existsSync(place));
  if (found === undefined && process.env[ALL_VERSIONS]) {
    throw new Error(`Claude Code ${version} is not installed for ${PLATFORM}: "npm run test:native" installs it`);
  }
  return found;
}
