import { release } from 'node:os';
import type { Check } from './check.ts';

/** Whether Troupe runs on this system, and how well that is tried. */
export function checkPlatform(
  { platform, kernel, cwd }: { platform: NodeJS.Platform; kernel: string; cwd: string } = {
    platform: process.platform,
    kernel: release(),
    cwd: process.cwd(),
  },
): Check {
  const name = 'platform';
  if (platform === 'win32') {
    const remedy = 'run it in WSL 2: wsl --install, then install Node and Troupe there (docs/platforms.md)';
    return { name, state: 'fail', found: 'Windows, on which Troupe does not run', remedy };
  }
  if (platform === 'darwin') return { name, state: 'ok', found: 'macOS; what was not tried there: docs/platforms.md' };
  if (platform !== 'linux') {
    const remedy = 'docs/platforms.md says what needs Linux or macOS';
    return { name, state: 'warn', found: `${platform}, on which nobody tried Troupe`, remedy };
  }
  if (!/microsoft/i.test(kernel)) return { name, state: 'ok', found: 'Linux' };
  if (!/^\/mnt\/[a-z](\/|$)/.test(cwd)) return { name, state: 'ok', found: 'Linux in WSL' };
  const remedy = 'keep repositories in the file system of Linux, such as ~/project';
  return {
    name,
    state: 'warn',
    found: `Linux in WSL, and ${cwd} is on a disk of Windows: slow, without modes`,
    remedy,
  };
}
