import { existsSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { holdLock } from './foreign.ts';
import type { Stage } from './stage.ts';
import { setStage, TEAM } from './stage.ts';

const lead = ({ paths }: Pick<Stage, 'paths'>): string =>
  existsSync(paths.inbox('team-lead')) ? readFileSync(paths.inbox('team-lead'), 'utf8') : '';

async function rest(ledger: Ledger, result: string): Promise<void> {
  for (const status of ['active', 'idle'] as const) {
    const change = { type: 'member.change' as const, by: 'codex-1', memberId: 'codex-1', status };
    await ledger.execute(TEAM, { ...change, ...(status === 'idle' && { result }) }, () => undefined);
  }
}

describe('an undelivered message to the native lead', () => {
  test('F20: is written when its inbox is whole again', async () => {
    const stage = await setStage();
    writeFileSync(stage.paths.inbox('team-lead'), '[{"fr');
    await rest(stage.ledger, 'done it');
    await expect.poll(() => stage.bridge.joined()[0]?.notices.join()).toContain('team-lead.json');
    writeFileSync(stage.paths.inbox('team-lead'), '[]');
    await expect.poll(() => lead(stage)).toContain('done it');
    await stage.settled();
    expect(lead(stage).match(/idle_notification/g)).toHaveLength(1);
  });

  test('F23: is written by the next daemon when the inbox was locked until this one ended', async () => {
    const stage = await setStage({}, { files: { longest: 100 } });
    const inbox = stage.paths.inbox('team-lead');
    writeFileSync(inbox, '[]');
    const lock = holdLock(inbox);
    await rest(stage.ledger, 'done it');
    const owed = (): Promise<unknown> => stage.ledger.view(TEAM, ({ team }) => team?.metadata?.['nativeOwed']);
    await expect.poll(owed).toMatchObject([{ kind: 'idle', text: 'done it' }]);
    await stage.bridge.close();
    expect(lead(stage)).toBe('[]');
    rmdirSync(lock);
    for (let i = 0; i < 2; i++) {
      const later = stage.open('home', stage.journal);
      await later.bridge.start();
      await later.bridge.settled(TEAM);
      await later.bridge.close();
    }
    expect(lead(stage).match(/idle_notification/g)).toHaveLength(1);
  });
});
