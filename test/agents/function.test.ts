import { expect, test } from 'vitest';
import type { Agent } from '../../src/agents/agent.ts';
import { functionAgent } from '../../src/agents/function.ts';
import { defaultStart, describeAgent, hear, turn } from '../contracts/agent.ts';
import type { Manner } from '../contracts/agent.ts';

const NO_PROCESS = 'it runs in this process';

const AGENTS: Record<Manner, () => Agent> = {
  quick: () => functionAgent(({ text }) => `did ${text}`),
  slow: () =>
    functionAgent((_turn, { emit, signal }) => {
      emit({ type: 'text', text: 'working' });
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }),
  failing: () =>
    functionAgent(() => {
      throw new Error('the disk is full of cats');
    }),
};

describeAgent('function', () => ({ agent: (manner) => AGENTS[manner]() }), {
  except: {
    'tells its processes': NO_PROCESS,
    'rejects what cannot be run': NO_PROCESS,
  },
});

test('a function that ignores its signal is not awaited, and its later events are dropped', async () => {
  const late = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const agent = functionAgent(async (_turn, { emit }) => {
    emit({ type: 'text', text: 'working' });
    await late.promise;
    emit({ type: 'text', text: 'too late' });
    done.resolve();
    return 'too late';
  });
  const session = hear(await agent.start(defaultStart()));
  await session.send(turn('long'), { when: 'next' });
  await session.heardText('working');
  await session.cancel();
  expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
  late.resolve();
  await done.promise;
  await session.close();
  expect(JSON.stringify(session.events)).not.toContain('too late');
});
