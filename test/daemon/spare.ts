import type { Home } from '../../src/client/home.ts';
import { until } from '../until.ts';
import { run } from './processes.ts';
import type { Running } from './processes.ts';

/** Loads the code of a daemon in a process that waits for `startSpare`, so that it replaces a killed one at once. */
export async function loadSpare({ directory }: Home): Promise<Running> {
  const env = { ...process.env, TROUPE_HOME: directory };
  const spare = run('spare-daemon', [directory], { stdio: ['pipe', 'pipe', 'pipe'], env });
  await until('it has loaded', () => spare.output.stdout === 'loaded\n');
  return spare;
}

/** Lets a loaded daemon start, and does not wait for it. */
export function startSpare({ child }: Running): void {
  child.stdin?.write('go\n');
}

/** Whether a spare is ready to answer. Throws if it ended. */
export function isReady({ child, output }: Running): boolean {
  if (child.exitCode !== null) throw new Error(`The daemon ended: ${output.stderr}`);
  return output.stdout === 'loaded\nready\n';
}
