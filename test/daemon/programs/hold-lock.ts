// Takes the lock of a state directory and keeps it; says "got", or the pid of the one that has it.
import { identify } from '../../../src/agents/process.ts';
import { writeCard } from '../../../src/runtime/card.ts';
import { LockedError, takeLock } from '../../../src/runtime/lock.ts';

const folder = process.argv[2] ?? '';
const place = { lock: `${folder}/lock.db`, card: `${folder}/daemon.json` };
try {
  const lock = await takeLock(place);
  const startedAt = new Date().toISOString();
  writeCard(place.card, { ...identify(process.pid), startedAt, version: '0', socket: '', url: null });
  process.stdout.write('got\n');
  setInterval(() => lock.isInPlace(), 60_000);
} catch (error) {
  process.stdout.write(`held by ${error instanceof LockedError ? error.pid : String(error)}\n`);
  process.exitCode = 75;
}
