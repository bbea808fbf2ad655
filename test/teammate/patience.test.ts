import { expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { Change, Door } from '../../src/teammate/door.ts';
import { patientDoor } from '../../src/teammate/patience.ts';
import { watchTeam } from '../../src/teammate/watch.ts';

const away = () => new TeamError('storage', 'No server answers');

/** A door that fails `times` times first, and records the id of each call. */
function failingDoor(times: number, error: () => Error = away) {
  const ids: (string | undefined)[] = [];
  const door: Door = {
    async call(_name, _input, { commandId } = {}) {
      ids.push(commandId);
      if (ids.length <= times) throw error();
      return { seq: 0 } as never;
    },
    // oxlint-disable-next-line require-yield -- it fails before it has anything to give
    async *changes() {
      throw away();
    },
  };
  return { door, ids };
}

test('a call that failed because of the journal is retried under its id until it is answered', async () => {
  const { door, ids } = failingDoor(3);
  const troubles: unknown[] = [];
  const patient = patientDoor(door, { signal: new AbortController().signal, onError: (error) => troubles.push(error) });
  await patient.call('task.claim', { teamId: 'demo' });
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(1);
  expect(troubles).toHaveLength(1);
});

test('work that is done waits for the repair of a damaged depot; other calls say so', async () => {
  const options = { signal: new AbortController().signal, onError: () => {} };
  const damaged = () => failingDoor(2, () => new TeamError('corrupt', 'The depot is damaged'));
  const [completing, claiming] = [damaged(), damaged()];
  await patientDoor(completing.door, options).call('task.complete', { teamId: 'demo', taskId: '1' });
  expect(completing.ids).toHaveLength(3);
  await expect(patientDoor(claiming.door, options).call('task.claim', { teamId: 'demo' })).rejects.toThrow('damaged');
});

test('a refusal is not retried, and a member that must stop does not wait', async () => {
  const stop = new AbortController();
  const options = { signal: stop.signal, onError: () => {} };
  const refused = failingDoor(9, () => new TeamError('stale_epoch', 'It changed hands'));
  await expect(patientDoor(refused.door, options).call('task.claim', { teamId: 'demo' })).rejects.toThrow('hands');
  expect(refused.ids).toHaveLength(1);
  const waiting = patientDoor(failingDoor(Infinity).door, options).call('task.claim', { teamId: 'demo' });
  stop.abort();
  await expect(waiting).rejects.toThrow('No server answers');
});

test('a member that follows its team gets the changes that it missed', async () => {
  const { door } = failingDoor(0);
  const stop = new AbortController();
  const asked: number[] = [];
  const batches: Change[] = [1, 2, 3].map((seq) => ({ seq, events: [{ type: 'task:created' } as never] }));
  const changes = async function* (_signal: AbortSignal, after: number) {
    asked.push(after);
    yield batches[after] as Change;
    if (after < 2) throw away();
    await new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  };
  const heard: string[] = [];
  const watch = watchTeam(
    { ...door, changes },
    { teamId: 'demo', memberId: 'ann', leads: false },
    { signal: stop.signal, onError: () => {} },
  );
  watch.onEvent(({ type }) => heard.push(type));
  await expect.poll(() => heard.length).toBe(3);
  expect(asked).toEqual([0, 1, 2]);
  stop.abort();
  await watch.next();
});
