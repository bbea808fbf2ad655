import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import { proves } from '../bridge/requirements.ts';
import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';
import { as, lastText, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

const hasCodex = agentProgram('codex') !== undefined;

describe.for(TESTED_VERSIONS)('a lead of Claude Code %s', (version) => {
  proves(
    ['teammate-command', 'permission-strict', 'permission-answers', 'lead-signs'],
    'has two teammates of its own kind and Codex in a third pane: mail, a task, a permission, idle, shutdown',
    async (context) => {
      context.skip(!hasCodex, 'Codex is not installed');
      const stage = await setNativeStage(context, version);
      const made = join(stage.cwd, 'made.txt');
      await useCodex(stage, codexScript(made));
      const { createTeam, spawn, send, createTask, updateTask, requestShutdown } = stage.words;
      const mate = (name: string, prompt: string) => spawn({ name, team: 'proxied', prompt: `${as(name)}${prompt}` });
      stage.play({
        lead: rules(
          [
            /Begin/,
            {
              calls: [
                ...createTeam('proxied'),
                mate('alice', 'Greet codex.'),
                mate('bob', 'Rest.'),
                mate('codex', 'Hi.'),
              ],
            },
          ],
          [/codex has come/, { calls: [createTask('Make the file'), updateTask('1', { owner: 'codex' })] }],
          [/Stop codex/, { calls: [requestShutdown('codex')] }],
        ),
        alice: rules([/Greet codex/, { calls: [send('codex', 'good day, says alice')] }]),
        bob: rules(),
      });
      await stage.startLead({ troupe: [] });
      await stage.type(`${as('lead')}Begin`);

      await stage.until('the lead heard from codex', () => stage.heard('lead', 'codex has come'));
      // Its person sees what codex wants, and says yes.
      await stage.sees(/made\.txt[^]*Do you want to proceed/);
      expect(existsSync(made)).toBe(false);
      await stage.confirm(/Do you want to proceed/);
      await stage.until('the task is done', () => stage.team()?.tasks.get('1')?.status === 'completed');
      expect(existsSync(made)).toBe(true);
      expect(stage.team()?.tasks.get('1')).toMatchObject({ owner: 'codex', status: 'completed' });
      await stage.until('alice heard from codex', () => stage.heard('alice', 'good day to you'));
      await stage.until('the lead heard that it rests', () =>
        stage.heard('lead', /idle_notification.*the file is there/),
      );
      await stage.until('it is shown as resting', () => memberOf(stage, 'codex')?.isActive === false);

      await stage.type('Stop codex');
      await stage.until('codex is gone', () => memberOf(stage, 'codex') === undefined);
      await stage.until('its pane is gone', () => stage.panes().length === 3);
      await stage.until('nothing of it runs', () => !stage.processes().some(({ command }) => /codex/.test(command)));
      expect(memberOf(stage, 'alice')).toBeDefined();
    },
  );
});

function memberOf(stage: NativeStage, name: string) {
  return stage.team()?.config?.members.find((one) => one.name === name);
}

/** Codex with a scripted model, as a person sets it up in `config.yaml`. */
async function useCodex(stage: NativeStage, script: ModelScript): Promise<void> {
  const {
    entry: { cwd: _cwd, ...entry },
    model,
  } = await setUp('codex', testPlace(), script);
  onTestFinished(() => model.close());
  stage.configure({ teammates: { codex: { agent: 'codex', ...entry } } });
}

/** Greets whoever writes, and makes the file that it is asked for, which it may not without being allowed to. */
function codexScript(path: string): ModelScript {
  return (request): ModelReply => {
    const last = lastText(request);
    if (/Task #1/.test(last)) {
      const cmd = `touch ${path}`;
      return {
        calls: [
          {
            name: 'exec_command',
            input: { cmd, sandbox_permissions: 'require_escalated', justification: 'it is outside' },
          },
        ],
      };
    }
    if (request.turns.at(-1)?.role === 'tool') {
      return { text: request.turns.some(({ text }) => text.includes('Task #1')) ? 'the file is there' : 'greeted' };
    }
    const calls = [
      ...(/\[\[codex\]\]/.test(last) ? [tell(request, 'team-lead', 'codex has come')] : []),
      ...(/says alice/.test(last) ? [tell(request, 'alice', 'good day to you')] : []),
    ];
    return calls.length > 0 ? { calls } : { text: 'nothing to do' };
  };
}

function tell(request: ModelRequest, to: string, message: string) {
  const name = request.tools.find((one) => one.endsWith('SendMessage')) ?? 'SendMessage';
  return { name, input: { to, message, summary: 'a word' } };
}
