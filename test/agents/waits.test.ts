import { expect, onTestFinished, test, vi } from 'vitest';
import { watchWaits } from '../../src/agents/acp/waits.ts';
import type { AnnouncedWait, WaitWatch } from '../../src/agents/acp/waits.ts';
import type { AgentEvent } from '../../src/agents/agent.ts';

/** A watch on an agent whose answer the test sets. */
function watching() {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const told: AgentEvent[] = [];
  const state: { wait?: AnnouncedWait; asked: number; ended: number } = { asked: 0, ended: 0 };
  const watch: WaitWatch = watchWaits({
    find: async () => (state.asked++, state.wait),
    tell: (event) => told.push(event),
    giveUp: () => state.ended++,
  });
  onTestFinished(() => {
    watch.stop();
    vi.useRealTimers();
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left--) {
      vi.advanceTimersByTime(1_000);
      for (let step = 0; step < 5; step++) await Promise.resolve();
    }
  };
  return { watch, state, told, pass };
}

test('a short wait is told once, and the turn goes on; who is heard is not asked', async () => {
  const { watch, state, told, pass } = watching();
  for (let at = 0; at < 10; at++) {
    watch.heard();
    await pass(9);
  }
  expect(state.asked).toBe(0);
  state.wait = { reason: 'busy', until: Date.now() + 60_000 };
  await pass(50);
  expect(told).toEqual([{ type: 'waiting', ...state.wait }]);
  expect([state.ended, watch.limited()]).toEqual([0, undefined]);
});

test('a turn that would wait for long is ended as limited', async () => {
  const { watch, state, told, pass } = watching();
  const until = Date.now() + 3_600_000;
  state.wait = { reason: 'used up', until };
  await pass(100);
  expect(told).toHaveLength(1);
  expect(state.ended).toBe(1);
  expect(watch.limited()).toMatchObject({ reason: 'failed', trouble: 'limited', resetsAt: until, error: 'used up' });
});
