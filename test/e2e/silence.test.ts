import { expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { REAL_AGENTS, setUp } from '../agents/setups.ts';
import type { Setup } from '../agents/setups.ts';
import type { ModelScript } from '../models/script.ts';
import { rounds } from '../proof.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { setStage } from './stage.ts';

/** All of them in a long run: these programs take long to start. */
const AGENTS = REAL_AGENTS.slice(0, rounds(2, REAL_AGENTS.length));

const missing = AGENTS.filter((name) => agentProgram(name) === undefined);

/** A model that never answers the first request about a task. */
function hangsOnce(): ModelScript {
  let asked = 0;
  return ({ turns }) => {
    if (!turns.some(({ text }) => text.includes('Task #'))) return { text: 'ready' };
    asked++;
    return asked === 1 ? new Promise<never>(() => {}) : { text: 'did it' };
  };
}

test(
  `the turns of ${AGENTS.join(', ')} are interrupted when their models never answer, and the same conversations go on`,
  needs(missing.length === 0, `${missing.join(', ')} is not installed`),
  async () => {
    const stage = setStage();
    const setups = new Map<string, Setup>();
    for (const name of AGENTS) setups.set(name, await setUp(name, testPlace(), hangsOnce()));
    onTestFinished(async () => void (await Promise.all([...setups.values()].map(({ model }) => model.close()))));
    const members = [...setups].map(([name, { entry }]) => {
      const { cwd: _cwd, ...rest } = entry;
      // Longer than these programs need to answer on a busy machine: a turn that is ended twice goes before a person.
      return { name, agent: name, ...rest, silence: { model: '10s' } };
    });
    const tasks = AGENTS.map((name) => ({ title: `Say hello as ${name}`, assign: name }));
    await stage.ask('up', stage.teamFile({ team: 'quiet', members, tasks }), '--yes', '--detach');
    const client = stage.client();
    for (const [i, name] of AGENTS.entries()) {
      await until(`${name} has done it`, async () => {
        const hangs = await client.call('request.list', { teamId: 'quiet', kind: 'hang', status: 'pending' });
        for (const { id } of hangs) {
          await client.call('request.answer', { teamId: 'quiet', requestId: id, approve: true });
        }
        return (await client.call('task.show', { teamId: 'quiet', taskId: String(i + 1) })).status === 'completed';
      });
      const texts = setups.get(name)?.model.requests.flatMap(({ turns }) => turns.map(({ text }) => text)) ?? [];
      expect(texts.some((text) => /Your last turn was interrupted.*nothing heard for/s.test(text))).toBe(true);
    }
    const { members: now } = await client.call('team.show', { teamId: 'quiet' });
    expect(now.filter(({ metadata }) => metadata?.['waiting'])).toEqual([]);
    expect((await stage.troupe('down', 'quiet')).code).toBe(0);
  },
);
