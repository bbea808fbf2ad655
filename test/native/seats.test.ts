import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { proves } from '../bridge/requirements.ts';
import { as, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { NEWEST, TESTED_VERSIONS } from './versions.ts';

describe.for(TESTED_VERSIONS)('a program in a pane of Claude Code %s', (version) => {
  proves(
    ['teammate-command', 'teammate-listed-late', 'shutdown-unasked'],
    'outlives its daemon, is there once, and goes with the process in its pane',
    async (context) => {
      const stage = await setNativeStage(context, version);
      useProgram(stage);
      const { createTeam, spawn, send } = stage.words;
      const helper = (name: string, prompt: string) => spawn({ name, team: 'seats', prompt: `${as(name)}${prompt}` });
      stage.play({
        lead: rules(
          [/Begin/, { calls: [...createTeam('seats'), helper('Helper_1', 'What is new?')] }],
          [/One more/, { calls: [helper('Helper_2', 'And you?')] }],
          [/Ask again/, { calls: [send('Helper_1', 'And now?')] }],
        ),
      });
      await stage.startLead({ troupe: [] });
      await stage.type(`${as('lead')}Begin`);
      await stage.until('it answered', () => stage.heard('lead', 'answer 1'));

      process.kill(daemonOf(stage), 'SIGKILL');
      await stage.type('Ask again');
      await stage.until('it answered, by the next daemon', () => stage.heard('lead', 'answer 2'));

      // The same once more, by hand.
      const pid = inPane(stage);
      const [, , ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
      const second = await stage.troupe(...words);
      expect(second.stderr).toMatch(/"Helper_1" sits in .* already, in another pane/);
      expect(second.code).not.toBe(0);

      process.kill(pid, 'SIGKILL');
      await stage.until('the lead heard that it is gone', () => stage.heard('lead', 'its pane was closed'));
      await stage.until(
        'nothing of it runs',
        () => !stage.processes().some(({ command }) => /helper\.sh/.test(command)),
      );
      const team = stage.team()?.name ?? '';

      await stage.type('One more');
      await stage.until('another answered', () => stage.heard('lead', 'answer 3'));
      const pane = stage.team()?.config?.members.find(({ name }) => name === 'Helper_2')?.tmuxPaneId ?? '';
      stage.tmux('kill-pane', '-t', pane);
      await stage.until('the lead heard that, too', () =>
        stage.heard('lead', /Helper_2 has stopped: its pane was closed/),
      );
      await stage.until(
        'nothing of ours runs',
        () => !stage.processes().some(({ command }) => / --(native-)?teammate /.test(command)),
      );
      const members = await stage.ask<{ id: string; status: string }[]>('member', 'list', '--team', team);
      const helpers = members.filter(({ id }) => id.startsWith('helper'));
      expect(helpers.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
    },
  );

  proves('teammate-command', 'that cannot be started says why, to its lead and in its pane', async (context) => {
    const stage = await setNativeStage(context, version);
    const program = join(stage.home, 'crash.sh');
    writeFileSync(program, '#!/bin/sh\necho "cannot load its settings" >&2\nexit 3\n', { mode: 0o755 });
    stage.configure({ teammates: { broken: { agent: 'codex', command: [program] } } });
    const { createTeam, spawn } = stage.words;
    const broken = spawn({ name: 'broken', team: 'seats', prompt: 'Hi.' });
    stage.play({ lead: rules([/Begin/, { calls: [...createTeam('seats'), broken] }]) });
    await stage.startLead({ troupe: [] });
    await stage.type(`${as('lead')}Begin`);
    const paneOf = (): string | undefined =>
      stage.team()?.config?.members.find(({ name }) => name === 'broken')?.tmuxPaneId || undefined;
    const pane = await stage.until('it has a pane', paneOf);
    await stage.until('its lead heard why', () =>
      stage.heard('lead', /broken has stopped: [^]*cannot load its settings[^]*What it held is free again/),
    );
    // The other versions close the pane of one that has left.
    if (version === NEWEST) await stage.sees(/broken has ended: crashed: .*cannot load its settings/, pane);
    await stage.until(
      'nothing of it runs',
      () => !stage.processes().some(({ command }) => / --(native-)?teammate /.test(command)),
    );
  });
});

/** A program that counts how often it is asked, for teammates that are called helpers. */
function useProgram(stage: NativeStage): void {
  const program = join(stage.home, 'helper.sh');
  const count = join(stage.home, 'count');
  const lines = ['cat > /dev/null', `echo x >> ${count}`, `echo "answer $(wc -l < ${count} | tr -d ' ')"`];
  writeFileSync(program, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
  stage.configure({ teammates: { 'Helper_*': { agent: { exec: [program], messages: true } } } });
}

function daemonOf({ troupeHome }: NativeStage): number {
  return (JSON.parse(readFileSync(troupeHome.card, 'utf8')) as { pid: number }).pid;
}

/** The process of ours in the pane. */
function inPane(stage: NativeStage): number {
  const found = stage.processes().find(({ command }) => command.includes(' --native-teammate '));
  expect(found).toBeDefined();
  return found?.pid ?? 0;
}
