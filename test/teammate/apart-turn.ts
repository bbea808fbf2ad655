import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Apart } from '../mcp/apart.ts';
import { until } from '../until.ts';
import { ask } from './member.ts';
import type { Play } from './member.ts';

/** The work of bob lands while alice is in a turn without a task. Its file must not move before that turn has stopped. */
export async function landDuringTurn({ house, folder }: Apart) {
  const file = join(await folder('alice'), 'a.txt');
  const begun = Promise.withResolvers<void>();
  const landed = Promise.withResolvers<void>();
  const atStop = Promise.withResolvers<string>();
  /** A turn that goes on until it is ended; it shows life until the work has landed. */
  const play: Play = (_turn, { signal, emit }) => {
    begun.resolve();
    const life = setInterval(() => emit({ type: 'text', text: 'still at it' }), 50);
    void landed.promise.then(() => clearInterval(life));
    return new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        clearInterval(life);
        atStop.resolve(readFileSync(file, 'utf8'));
        reject(new Error('ended'));
      }),
    );
  };
  return {
    play,
    /** Sends alice into the turn, then lands another version of the file. */
    land: async (): Promise<void> => {
      await ask(house).send('alice', 'look around');
      await begun.promise;
      await ask(house).create('Change a file');
      await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'bob');
      await house.call('work.begin', { teamId: 'demo', memberId: 'bob', taskId: '1', epoch: 1 }, 'bob');
      writeFileSync(join(await folder('bob'), 'a.txt'), 'two\n');
      await house.call('task.complete', { teamId: 'demo', taskId: '1' }, 'bob');
      landed.resolve();
    },
    /** What the file has when the turn is ended. */
    atStop: atStop.promise,
    hasBranch: () => until('it has the branch', () => readFileSync(file, 'utf8') === 'two\n'),
  };
}
