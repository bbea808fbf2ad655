import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SHORT_RUN } from '../agents/bun.ts';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { anthropicServer } from '../models/anthropic.ts';
import { lastUserText } from '../models/script.ts';
import type { ModelScript } from '../models/script.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { setStage } from './stage.ts';

const program = agentProgram('claude');

describe('a team of Claude Code', needs(program !== undefined, 'Claude Code is not installed'), () => {
  test('submits a plan, works after the approval, and sends a message that a teammate reads', async () => {
    const stage = setStage();
    const { home, cwd } = testPlace();
    const haiku = join(cwd, 'haiku.txt');
    const model = await anthropicServer(poetWith(haiku));
    onTestFinished(() => model.close());
    const member = (name: string) => ({
      name,
      agent: 'claude',
      command: [program],
      cwd,
      env: { ...SHORT_RUN, HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    });
    const file = stage.teamFile({
      team: 'poets',
      members: [{ ...member('alice'), plan: 'required' }, member('bob')],
      tasks: [
        { id: 'haiku', title: 'Write the haiku', assign: 'alice' },
        { title: 'Tell bob', assign: 'alice', needs: ['haiku'] },
      ],
    });
    // The agent gets its provider's variables from the environment of the command that started the daemon.
    const up = stage.start(['up', '--yes', file, '--detach'], {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'a dummy',
      OPENAI_API_KEY: 'of somebody else',
    });
    expect(await up.ended, up.output.stderr).toBe(0);

    const client = stage.client();
    const plan = await until(
      'alice has a plan',
      async () => (await client.call('request.list', { teamId: 'poets', kind: 'plan' }))[0],
    );
    // In plan mode its first attempt to write failed.
    expect(plan.content).toContain('No such tool available: Write');
    expect(existsSync(haiku)).toBe(false);
    await stage.ask('plan', 'approve', plan.id, '--team', 'poets');
    await until(
      'all is done',
      async () => (await client.call('team.status', { teamId: 'poets' })).tasks['completed'] === 2,
    );
    expect(existsSync(haiku)).toBe(true);
    await until('bob has read what alice wrote', () =>
      model.requests.some(
        (request) => request.system.includes('bob') && lastUserText(request).includes('an old pond, says alice'),
      ),
    );
    // The plan, the haiku and the message: two requests each, and none is counted twice.
    const { members } = await client.call('usage.show', { teamId: 'poets' });
    expect(members['alice']).toMatchObject({ turns: 3, inputTokens: 600, estimated: false });
    expect(members['alice']?.costUsd).toBeGreaterThan(0);
  });

  test('runs for a goal from a shell; stdout is the answer of the lead alone', async () => {
    const stage = setStage();
    const { home, cwd } = testPlace();
    const model = await anthropicServer(leadWithOneTask);
    onTestFinished(() => model.close());
    const bin = join(stage.folder, 'bin');
    mkdirSync(bin);
    symlinkSync(program as string, join(bin, 'claude'));
    const env = {
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'a dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    const words = ['run', 'Find out what two and two are', '--lead', 'claude', '--folder', cwd];
    const missing = stage.start([...words, '--with', 'claude,codex'], env);
    expect(await missing.ended).toBe(2);
    expect(missing.output.stderr).toContain('it is not on the PATH; npm install -g @openai/codex');

    const running = stage.start([...words, '--with', 'claude'], env);
    expect(await running.ended, running.output.stderr).toBe(0);
    expect(running.output.stdout).toBe('It is four.\n');
    expect(running.output.stderr).toMatch(/claude +completed task #1.*: I counted: 4/);
    expect(running.output.stderr).not.toMatch(/changed lead|received \d/);
    expect(stage.records()).toEqual([]);
    // The first attempt, which was refused, left no team.
    const client = stage.client();
    expect(await client.call('team.list', {})).toHaveLength(1);
  });
});

/** Creates one task, and answers when it learns that the task is completed. */
const leadWithOneTask: ModelScript = (request) => {
  const last = request.turns.at(-1);
  if (!request.system.includes('the lead of the team')) return { text: 'I counted: 4' };
  if (last?.role === 'tool') return { text: 'It is under way.' };
  if (last?.text.includes('1 completed')) return { text: 'It is four.' };
  return { calls: [{ name: 'mcp__troupe__TaskCreate', input: { subject: 'Count', description: 'two and two' } }] };
};

/** Does what its task says, or attempts it. */
function poetWith(file: string): ModelScript {
  return (request) => {
    const last = request.turns.at(-1);
    const asked = last?.role === 'user' ? last.text : '';
    if (asked.includes('Write the haiku')) {
      return { calls: [{ name: 'Write', input: { file_path: file, content: 'an old pond' } }] };
    }
    if (asked.includes('Tell bob')) {
      return {
        calls: [{ name: 'mcp__troupe__SendMessage', input: { to: 'bob', message: 'an old pond, says alice' } }],
      };
    }
    return { text: `It is so: ${last?.text}` };
  };
}
