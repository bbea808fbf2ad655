import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';

/** A program that some tests use and npm does not install. */
export interface Tool {
  readonly program: string;
  readonly debianPackage: string;
  readonly why: string;
  /** Whether tests go without it, only slower. */
  readonly isOptional?: boolean;
}

export const TOOLS: readonly Tool[] = [
  { program: 'strace', debianPackage: 'strace', why: 'to count flushes and to inject I/O errors' },
  { program: 'openssl', debianPackage: 'openssl', why: 'to make a certificate for the server' },
  { program: 'chromium', debianPackage: 'chromium', why: 'to attack the daemon from a page, and to try the dashboard' },
  {
    program: 'chromium-headless-shell',
    debianPackage: 'chromium-headless-shell',
    why: 'to try the dashboard in less time',
    isOptional: true,
  },
  { program: 'nats-server', debianPackage: 'nats-server', why: 'to keep the journal of teams on several machines' },
  { program: 'git-lfs', debianPackage: 'git-lfs', why: 'to see that large files are saved as pointers' },
  { program: 'tmux', debianPackage: 'tmux', why: 'to see what a terminal shows' },
  { program: 'bwrap', debianPackage: 'bubblewrap', why: 'to run members in a sandbox' },
  { program: 'zsh', debianPackage: 'zsh', why: 'to complete commands in it' },
  { program: 'fish', debianPackage: 'fish', why: 'to complete commands in it' },
];

declare module 'vitest' {
  interface TaskMeta {
    /** Why the suite is skipped, for the summary at the end of a run. */
    skipReason?: string;
  }
}

/** Options that skip a suite or test, with the reason, if something that it needs is missing. */
export function needs(isThere: boolean, reason: string): { skip: boolean; meta: { skipReason?: string } } {
  return { skip: !isThere, meta: isThere ? {} : { skipReason: reason } };
}

/** Skips the test, with the reason, if a program is not installed. */
export function needTool(context: TestContext, program: string): void {
  context.skip(!isInstalled(program), `${program} is not installed`);
}

/** Whether a program is on the PATH. */
export function isInstalled(program: string): boolean {
  return findPrograms(program).length > 0;
}

/** Every path of a program on the PATH. The first is the one that a shell would run. */
export function findPrograms(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).filter((path) => isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A Node on the PATH, not ours, that is too old for Troupe. */
export function findOldNode(): string | undefined {
  const nodes = findPrograms('node').filter((path) => !path.includes('node_modules'));
  return nodes.find((path) => {
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout) ?? [];
    return Number(major) < 22 || (Number(major) === 22 && Number(minor) < 13);
  });
}
