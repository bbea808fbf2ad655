import { lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { findNativeRoot } from '../../../bridge/layout.ts';
import { findReadOnly } from '../../../bridge/snapshot.ts';
import type { Check } from './check.ts';

const NAME = "Claude Code's teams";

/**
 * Checks Claude Code's directory: other users must not read it. Troupe ignores one that is a link or another user's.
 */
export function checkNative(environment: NodeJS.ProcessEnv): Check[] {
  const root = findNativeRoot(environment);
  const places = [root, join(root, 'teams'), join(root, 'tasks')];
  const found = places.flatMap((path): [string, Stats][] => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats ? [[path, stats]] : [];
  });
  if (found.length < 2) return [];
  const remedy = 'set CLAUDE_CONFIG_DIR to a directory of your own; Troupe does not read this one';
  for (const [path, stats] of found) {
    const odd = stats.isSymbolicLink() ? 'is a symbolic link' : stats.isDirectory() ? undefined : 'is not a directory';
    const foreign = process.getuid && stats.uid !== process.getuid() ? `belongs to user ${stats.uid}` : undefined;
    const problem = odd ?? foreign;
    if (problem !== undefined) return [{ name: NAME, state: 'warn', found: `${path} ${problem}`, remedy }];
  }
  return [checkModes(root, found), ...checkReadOnly(root)];
}

function checkModes(root: string, found: readonly [string, Stats][]): Check {
  // A user who cannot enter the first directory cannot read anything in it, whatever its modes.
  const [, { mode }] = found[0] as [string, Stats];
  const loose = found.find(([, stats]) => (stats.mode & 0o002) !== 0);
  if ((mode & 0o001) !== 0 && loose) {
    const [path, stats] = loose;
    const what = 'can be changed by every user of this machine, who could then act as a lead';
    const found = `${path} ${what} (mode ${(stats.mode & 0o777).toString(8)})`;
    return { name: NAME, state: 'warn', found, remedy: `run: chmod 700 ${root}` };
  }
  const open = found.slice(1).find(([, stats]) => (stats.mode & 0o055) !== 0);
  if ((mode & 0o011) === 0 || !open) return { name: NAME, state: 'ok', found: `${root}, open only to you` };
  const [path, stats] = open;
  return {
    name: NAME,
    state: 'warn',
    found: `${path} can be read by other users of this machine (mode ${(stats.mode & 0o777).toString(8)})`,
    remedy: `run: chmod 700 ${root}`,
  };
}

/** Teams that Troupe shows but cannot join, one line each, because each has its own remedy. */
function checkReadOnly(root: string): Check[] {
  return findReadOnly(root).map(({ name, why }) => ({
    name: NAME,
    state: 'warn',
    found: `${JSON.stringify(name)} is read-only: ${why}`,
    remedy: 'to join it, end that team and start one without this problem; "troupe teams --native" lists them',
  }));
}
