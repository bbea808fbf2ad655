import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Permission, TurnEnd } from '../../src/agents/agent.ts';
import { readTurn } from '../recordings/recording.ts';
import type { RecordedTurn } from '../recordings/recording.ts';
import { watchForAlarms } from './alarms.ts';

/*
 * Turns of real agents, recorded in real time with test/recordings/record.ts and replayed against the clocks with their
 * default limits. Their models were scripts, so the pauses of models are ours; everything else is what the agents did.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Turns that went well, or turns in which a command by mistake never ended. */
function recordings(which: 'turns' | 'hung'): RecordedTurn[] {
  const folder = join(import.meta.dirname, '../recordings', which);
  return readdirSync(folder).flatMap((file) => {
    const agent = file.slice(0, file.indexOf('-'));
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    return lines.map((line) => readTurn(agent, line));
  });
}

/** Replays a turn on a clock that the test moves; returns the alarms. */
async function replay({ happened, ms }: RecordedTurn): Promise<string[]> {
  const alarms: string[] = [];
  const watch = watchForAlarms(alarms);
  const began = Date.now();
  const answers: Permission['answer'][] = [];
  const passUntil = async (at: number): Promise<void> => {
    for (let left = began + at - Date.now(); left > 0; left = began + at - Date.now()) {
      vi.advanceTimersByTime(Math.min(left, 15 * SECOND));
      // A look takes some steps of its own.
      for (let step = 0; step < 10; step++) await Promise.resolve();
    }
  };
  const play = async (): Promise<TurnEnd> => {
    for (const one of happened) {
      await passUntil(one.at);
      if ('event' in one) {
        const { event } = one;
        const isTimed = event.type === 'waiting' && event.until !== undefined;
        watch.hear(isTimed ? { ...event, until: began + event.until } : event);
      } else if ('asked' in one) {
        if (one.asked) answers.push(watch.asked({ answer: () => {} } as unknown as Permission).answer);
        else answers.shift()?.({ allow: true });
      }
    }
    await passUntil(ms);
    return { type: 'turnEnd', reason: 'done', text: '' };
  };
  await watch.during(play, { wasInterrupted: false });
  return alarms;
}

test('no alarm in the recorded hours of four real agents, and one in a recording with a hole', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const turns = recordings('turns');
  const hours: Record<string, number> = {};
  for (const [at, turn] of turns.entries()) {
    hours[turn.agent] = (hours[turn.agent] ?? 0) + turn.ms / HOUR;
    expect(await replay(turn), `turn ${at}, of ${turn.agent}`).toEqual([]);
  }
  expect(Object.keys(hours).toSorted()).toEqual(['claude', 'codex', 'gemini', 'opencode']);
  expect(Object.values(hours).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(HOURS);

  // The same turns are noticed if their model is silent for longer than the clock after some of their events.
  const hole = 16 * MINUTE;
  const quiet = turns.find(({ happened }) => happened.some((one) => 'event' in one && one.event.type === 'text'));
  const { happened, ms } = quiet as RecordedTurn;
  const from = happened.findIndex((one) => 'event' in one && one.event.type === 'text');
  const moved = happened.map((one, at) => (at <= from ? one : { ...one, at: one.at + hole }));
  const heard = await replay({ agent: 'any', ms: ms + hole, happened: moved });
  expect(heard[0]).toMatch(/^told nothing heard for 15 minutes/);
  for (const turn of recordings('hung')) expect((await replay(turn))[0]).toMatch(/^told shell has run for 60 minutes/);
});

/** Less than was recorded, so that a lost file is noticed. */
const HOURS = 100;
