import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type { TestContext } from 'vitest';

/** Skips the test, with the reason, if file systems cannot be mounted. */
export function needMounts(context: TestContext): void {
  context.skip(process.platform !== 'linux' || process.getuid?.() !== 0, 'mounting needs root on Linux');
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
  } catch {
    context.skip('mounting is not allowed here, as in most containers');
  }
}

/** Mounts a small file system in memory on a folder until the test ends. */
export function mountSmall(folder: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  unmountLater(folder);
}

/** Mounts a folder read-only at a second place until the test ends. */
export function mountReadOnly(folder: string, place: string): void {
  execFileSync('mount', ['--bind', folder, place]);
  unmountLater(place);
  execFileSync('mount', ['-o', 'remount,bind,ro', place]);
}

function unmountLater(folder: string): void {
  // Lazily, because a failed test may have left a journal open.
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder]);
  });
}
