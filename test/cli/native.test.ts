import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newTroupe } from './troupe.ts';

const CAPTURES = join(import.meta.dirname, '../fixtures/claude-code');

describe("Claude Code's own teams on the command line", () => {
  test('are listed and shown, events and leftovers too', async () => {
    const troupe = newTroupe();
    const root = troupe.environment['CLAUDE_CONFIG_DIR'] as string;
    expect((await troupe.run('teams --native')).stdout).toContain('Claude Code has no teams in');
    cpSync(join(CAPTURES, '2.1.37/03-external-member'), root, { recursive: true });
    cpSync(join(CAPTURES, '2.1.325/06-stream-json-lead'), root, { recursive: true });
    mkdirSync(join(root, 'teams/odd'));
    writeFileSync(join(root, 'teams/odd/config.json'), '{"crew":[]}');
    const { stdout } = await troupe.run('teams --native');
    expect(stdout).toMatch(/NATIVE TEAM +KIND +LEAD +MEMBERS/);
    expect(stdout).toMatch(/62fd9ac4\S+ +session/);
    expect(stdout).toMatch(/lab +team +team-lead +\d/);
    expect(stdout).toContain('odd: is shown as it is and never written');
    const { teams, lastEvent } = await troupe.json<{ teams: { name: string }[]; lastEvent: number }>('teams --native');
    expect(lastEvent).toBeGreaterThan(0);
    expect(teams.map(({ name }) => name)).toEqual(['62fd9ac4-6c7d-4d89-a92e-c5302cc28331', 'lab', 'odd']);
    const shown = (await troupe.run('native show lab')).stdout;
    expect(shown).toMatch(/ (idle notification|task assignment|shutdown)/);
    expect(shown).toMatch(/Members\n[^]*codex-1[^]*Tasks\n[^]*Messages\n/);
    expect((await troupe.run('native events')).stdout).toContain('teammate appeared: codex-1');
    const left = await troupe.run('native leftovers --quiet 0');
    expect(left.stdout).toMatch(/lab +team .*last change/);
    expect((await troupe.run('native clean lab')).stderr).toContain('less than 60 minutes ago');
    expect((await troupe.run('native clean lab --quiet 0')).stdout).toMatch(/^lab is now in .*trash/);
    expect((await troupe.json<{ teams: { name: string }[] }>('teams --native')).teams).toHaveLength(2);
    expect((await troupe.json<unknown[]>('teams')).length).toBe(0);
  }, 90_000);
});
