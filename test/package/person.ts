import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { findPrograms } from '../tools.ts';

/** Who uses the package, where, and with which Node. */
export interface Person {
  readonly node: string;
  /** The command as npm installs it. */
  readonly command: string;
  readonly home: string;
  readonly cwd: string;
  readonly path: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user than ours; only root can be one. */
  readonly uid?: number;
}

/** A folder for the PATH of a machine with little on it: no git, no npm. */
export function makeSmallPath(folder: string): string {
  mkdirSync(folder);
  for (const name of ['sh', 'cat']) symlinkSync(findPrograms(name)[0] ?? '', join(folder, name));
  return folder;
}

/** Runs a command of the installed package, without a terminal. */
export function ask({ node, command, home, cwd, path, env, uid }: Person, ...words: string[]) {
  return spawnSync(node, [command, ...words], {
    encoding: 'utf8',
    cwd,
    env: { PATH: path, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

/**
 * From an empty folder to a team that has done its tasks, and away with it; throws if anything is not as it should be.
 * Returns how long each step took, in milliseconds.
 */
export function walkPackage(person: Person, packageCommand: string): Record<string, number> {
  const times: Record<string, number> = {};
  const run = (...words: string[]): string => {
    const start = performance.now();
    const { status, stdout, stderr } = ask(person, ...words);
    times[`troupe ${words.join(' ')}`.trim()] = Math.round(performance.now() - start);
    assert.equal(status, 0, `troupe ${words.join(' ')}: ${stdout}${stderr}`);
    // Only a start of the daemon is told.
    assert.equal(stderr.replace(/^troupe: starting the daemon for .*\n/, ''), '');
    return stdout;
  };
  const state = person.env?.['TROUPE_HOME'] ?? join(person.home, '.local/state/troupe');
  assert.match(run(), /troupe init/);
  run('init', 'script');
  assert.match(run('up', '--yes'), /4 of 4 tasks completed/);
  run('stop');
  // It reads the journal by itself.
  assert.match(run('doctor'), /the journal can be read/);
  assert.doesNotMatch(readFileSync(join(state, 'daemon.log'), 'utf8'), /warning/i);
  const gone = run('uninstall', '--yes');
  assert.ok(gone.includes(`To remove the package itself: ${packageCommand}`), gone);
  assert.equal(existsSync(state), false);
  return times;
}
