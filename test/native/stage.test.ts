import { describe, expect, test } from 'vitest';
import { as, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

describe.for(TESTED_VERSIONS)('a team of Claude Code %s in panes', (version) => {
  test('is seen as it works: a teammate appears, and what it writes reaches the lead', async (context) => {
    const stage = await setNativeStage(context, version);
    const { createTeam, spawn, send } = stage.words;
    const alice = spawn({ name: 'alice', team: 'staged', prompt: `${as('alice')}Greet your lead.` });
    stage.play({
      lead: rules(
        [/Begin/, { calls: [...createTeam('staged'), alice] }],
        [/good morning/, { text: 'I have been greeted.' }],
      ),
      alice: rules([/Greet your lead/, { calls: [send('team-lead', 'good morning')] }]),
    });
    await stage.startLead();
    await stage.type(`${as('lead')}Begin`);
    await stage.until('the lead was greeted', () => stage.heard('lead', 'good morning'));
    const team = stage.team();
    expect(team?.config?.members.map(({ name }) => name)).toEqual(['team-lead', 'alice']);
    const shown = await stage.ask<{ members: { name: string }[] }>('native', 'show', team?.name ?? '');
    expect(shown.members.map(({ name }) => name)).toEqual(['team-lead', 'alice']);
  });
});
