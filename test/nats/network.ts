import { spawnSync } from 'node:child_process';
import { createServer, connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { passOn } from './pass-on.ts';
import type { Proxy } from './proxy.ts';

const BRIDGE = join(import.meta.dirname, 'programs/bridge.ts');

/** The port of the servers in every network of a test. */
const PORT = 4222;

/** A network namespace for one daemon. It contains only its own loopback, and the servers at one port. */
export interface Network extends Omit<Proxy, 'refused'> {
  /** The command prefix that starts a program in it. */
  readonly enter: readonly [string, ...string[]];
  /** Must be called with the process that runs in it. */
  entered(pid: number): void;
}

/** Why this system has no network namespaces, or undefined if it has them. */
export function whyNoNetworks(): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `no network namespaces here: ${error?.message ?? stderr.trim()}`;
}

/** Makes a network that exists while a process is in it. `cut` takes its link down: packets are lost, not refused. */
export async function makeNetwork(target: number): Promise<Network> {
  const path = join(temporaryFolder(), 'servers.sock');
  const server = createServer((client) => passOn(client, connect(target, '127.0.0.1')));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  const script = 'ip link set lo up; "$1" "$2" "$3" "$4" < /dev/null > /dev/null 2>&1 & shift 4; exec "$@"';
  let inside = 0;
  const setLink = (to: 'up' | 'down'): void => {
    const enter = ['-t', String(inside), '-U', '-n', '--preserve-credentials'];
    const { status, stderr } = spawnSync('nsenter', [...enter, 'ip', 'link', 'set', 'lo', to], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The link could not be set ${to}: ${stderr}`);
  };
  return {
    port: PORT,
    enter: ['unshare', '-rn', 'sh', '-c', script, 'sh', process.execPath, BRIDGE, String(PORT), path],
    entered: (pid) => void (inside = pid),
    cut: () => setLink('down'),
    mend: () => setLink('up'),
  };
}
