import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { proves } from '../bridge/requirements.ts';
import { connect } from '../daemon/serve.ts';
import { as, rules } from './script.ts';
import { parentOf, setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { NEWEST, TESTED_VERSIONS } from './versions.ts';

describe.for(TESTED_VERSIONS)('a lead of Claude Code %s that is killed', (version) => {
  proves(
    ['teammate-command', 'lead-killed', 'resume-keeps-tasks'],
    'ends the teammates in its panes and no others, releases their tasks, and has its team again when resumed',
    async (context) => {
      const stage = await setNativeStage(context, version);
      const go = useHelpers(stage);
      const { createTeam, spawn, createTask, updateTask } = stage.words;
      const helper = spawn({ name: 'helper', team: 'lost', prompt: `${as('helper')}Be there.` });
      stage.play({
        lead: rules(
          [/Begin/, { calls: [...createTeam('lost'), helper] }],
          [/Work/, { calls: [createTask('Wait for it'), updateTask('1', { owner: 'helper' })] }],
          [/Once more/, { calls: [helper] }],
        ),
      });
      await stage.startLead({ troupe: [] });
      await stage.type(`${as('lead')}Begin`);
      await stage.until('the helper is there', () => stage.heard('lead', 'helped 1'));
      await stage.type('Work');
      await stage.until('the helper works', () => stage.team()?.tasks.get('1')?.status === 'in_progress');
      const client = connect(stage.troupeHome);
      const { name: teamId = '', config } = stage.team() ?? {};
      const agent = { kind: 'exec' as const, command: [join(stage.home, 'rest.sh')] };
      await client.call('member.spawn', { teamId, name: 'joined', agent, cwd: stage.cwd });
      await stage.until('one of ours is in its list', () => membersOf(stage).includes('joined'));

      process.kill(leadProcess(stage), 'SIGKILL');
      await stage.sees(/Claude Code was killed by SIGKILL[^]*troupe claude -- --resume/);
      await stage.until('nothing is left of the helper', () => programsOf(stage, 'helper').length === 0);
      await stage.until('that is on record', async () => (await statusOf(client, teamId, 'helper')) === 'stopped');
      await stage.until('one of ours has its task', () => stage.team()?.tasks.get('1')?.owner === 'joined');
      writeFileSync(go, '');
      await stage.until('it is done', () => stage.team()?.tasks.get('1')?.status === 'completed');
      if (version !== NEWEST) return;

      // The newest version records the lead's process; older ones do not.
      expect((await stage.troupe('teams', '--native')).stdout).toMatch(/its lead has ended \(process \d+\)/);
      expect((await stage.troupe('native', 'joined')).stdout).toMatch(/its lead has ended.*troupe native leave/);
      await client.call('message.send', { teamId, toId: 'team-lead', content: 'while you were away' });
      await stage.startLead({ troupe: [], args: ['--resume', config?.leadSessionId ?? ''] });
      await stage.until('ours is in its list again', () => membersOf(stage).includes('joined'));
      expect((await stage.troupe('native', 'joined')).stdout).not.toContain('has ended');
      await stage.type('Once more');
      await stage.until('there is a helper again', () => stage.heard('lead', /helped [23]/));
      await stage.until('the lead has its mail', () => stage.heard('lead', 'while you were away'));

      // Now the lead exits normally.
      await stage.type('/exit');
      await stage.sees('Background work is running');
      await stage.confirmUntil('it has left, and its team with it', {
        question: /Background work is running/,
        until: () => !existsSync(join(stage.root, 'teams', teamId)),
      });
      await stage.until('and the helper with it', () => programsOf(stage, 'helper').length === 0);
      await stage.until('its pane, too', () => stage.panes().length === 1);
      expect(await statusOf(client, teamId, 'joined')).not.toBe('stopped');
      await stage.until('ours are told', async () => {
        const inbox = await client.call('message.inbox', { teamId, memberId: 'joined' });
        return inbox.some(({ content }) => content.includes('is gone: its lead ended it'));
      });
      expect((await stage.troupe('native', 'joined')).stdout).toMatch(/is gone; Troupe joins it again/);

      // If the team was closed in Troupe meanwhile, a new one is made for the next teammate that takes a seat.
      await client.call('team.close', { teamId, force: true });
      await stage.startLead({ troupe: [], args: ['--resume', config?.leadSessionId ?? ''] });
      await stage.type('Once more');
      await stage.until('there is a helper once more', async () => {
        const members = await client.call('member.list', { teamId: `${teamId}-2` }).catch(() => []);
        return members.some(({ id, status }) => id === 'helper' && status === 'idle');
      });
    },
  );
});

/** Programs for the helper and for a member of ours. Their task waits for a file, whose path is returned. */
function useHelpers(stage: NativeStage): string {
  const [count, go] = [join(stage.home, 'count'), join(stage.home, 'go')];
  const wait = `grep -q 'Wait for it' && until [ -e ${go} ]; do sleep 0.1; done`;
  const helper = [wait, `echo x >> ${count}`, `echo "helped $(wc -l < ${count} | tr -d ' ')"`];
  for (const [name, lines] of Object.entries({ helper, rest: [wait, 'echo done'] })) {
    writeFileSync(join(stage.home, `${name}.sh`), `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
  }
  stage.configure({ teammates: { helper: { agent: { exec: [join(stage.home, 'helper.sh')], messages: true } } } });
  return go;
}

function membersOf(stage: NativeStage): string[] {
  return stage.team()?.config?.members.map(({ name }) => name) ?? [];
}

async function statusOf(client: Client, teamId: string, memberId: string): Promise<string> {
  return (await client.call('member.show', { teamId, memberId })).status;
}

/** The processes of a teammate that we play: in its pane, under the daemon, and its agent. */
function programsOf(stage: NativeStage, name: string): number[] {
  const isIts = new RegExp(` --native-teammate .*--agent-name ${name} | --teammate .*--agent ${name} |/${name}\\.sh`);
  return stage.processes().flatMap(({ pid, command }) => (isIts.test(`${command} `) ? [pid] : []));
}

/** The Claude Code that "troupe claude" started. */
function leadProcess(stage: NativeStage): number {
  const ours = stage.processes().find(({ command }) => / claude -- /.test(command));
  // `troupe claude` may have started the daemon, too.
  const others = stage.processes().filter(({ command }) => !/ serve\b/.test(command));
  const child = others.find(({ pid }) => ours !== undefined && parentOf(pid) === ours.pid);
  if (child === undefined) throw new Error('No lead runs');
  return child.pid;
}
