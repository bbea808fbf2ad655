import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newTroupe } from './troupe.ts';

const CAPTURES = join(import.meta.dirname, '../fixtures/claude-code');

describe("Claude Code's own teams on the command line", () => {
  test('are listed and shown, with events and leftovers', async () => {
    const troupe = newTroupe();
    const root = troupe.environment['CLAUDE_CONFIG_DIR'] as string;
    expect((await troupe.ask('teams --native')).stdout).toContain('Claude Code has no teams in');
    cpSync(join(CAPTURES, '2.1.37/03-external-member'), root, { recursive: true });
    cpSync(join(CAPTURES, '2.1.325/06-stream-json-lead'), root, { recursive: true });
    mkdirSync(join(root, 'teams/odd'));
    writeFileSync(join(root, 'teams/odd/config.json'), '{"crew":[]}');
    const { stdout } = await troupe.ask('teams --native');
    expect(stdout).toMatch(/NATIVE TEAM +KIND +LEAD +MEMBERS/);
    expect(stdout).toMatch(/62fd9ac4\S+ +session/);
    expect(stdout).toMatch(/lab +team +team-lead +\d/);
    expect(stdout).toContain('odd: is read-only');
    const { teams, lastEvent } = await troupe.json<{ teams: { name: string }[]; lastEvent: number }>('teams --native');
    expect(lastEvent).toBeGreaterThan(0);
    expect(teams.map(({ name }) => name)).toEqual(['62fd9ac4-6c7d-4d89-a92e-c5302cc28331', 'lab', 'odd']);
    const shown = (await troupe.ask('native show lab')).stdout;
    expect(shown).toMatch(/ (idle notification|task assignment|shutdown)/);
    expect(shown).toMatch(/Members\n[^]*codex-1[^]*Tasks\n[^]*Messages\n/);
    expect((await troupe.ask('native events')).stdout).toContain('teammate appeared: codex-1');
    const left = await troupe.ask('native leftovers --quiet 0');
    expect(left.stdout).toMatch(/lab +team .*\n {2}last change .*\n {2}no process is one of its members\n/);
    const session = '62fd9ac4-6c7d-4d89-a92e-c5302cc28331';
    expect((await troupe.ask(`native clean ${session} --quiet 0`)).stdout).toContain(`${session} is now in `);
    expect((await troupe.ask('native clean lab')).stderr).toContain('less than 60 minutes ago');
    expect((await troupe.ask('native clean lab --quiet 0')).stdout).toMatch(/^lab is now in .*trash/);
    expect((await troupe.json<{ teams: { name: string }[] }>('teams --native')).teams).toHaveLength(1);
    expect((await troupe.json<unknown[]>('teams')).length).toBe(0);

    // A read-only team says why, everywhere, and its name cannot control a terminal.
    const config = { leadAgentId: 'l', members: [{ name: 'team-lead', agentId: 'l' }] };
    for (const name of ['-rf', 'équipe', '\u001b[2Jclear', 'linked']) {
      mkdirSync(join(root, 'teams', name));
      writeFileSync(join(root, 'teams', name, 'config.json'), JSON.stringify({ name, ...config }));
    }
    symlinkSync(root, join(root, 'teams/linked/inboxes'));
    symlinkSync(root, join(root, 'teams/elsewhere'));
    const { teams: all } = await troupe.json<{ teams: { name: string; changedAt?: string }[] }>('teams --native');
    expect(all.find(({ name }) => name === 'elsewhere')).not.toHaveProperty('changedAt');
    const odd = (await troupe.ask('teams --native')).stdout;
    expect(odd).toMatch(/équipe +team \(read-only\) +team-lead/);
    for (const name of ['-rf', 'équipe', '[2Jclear']) {
      expect(odd).toContain(`! ${name}: is read-only: the name of its directory`);
    }
    expect(odd).toContain('! linked: is read-only: inboxes is a symbolic link');
    expect(odd).not.toContain('\u001b');
    expect((await troupe.ask('native show linked')).stdout).toContain('inboxes is a symbolic link');
    expect((await troupe.ask('join linked')).stderr).toContain('cannot be joined: inboxes is a symbolic link');
    const { checks } = await troupe.json<{ checks: { name: string; found: string }[] }>('doctor');
    const said = checks.filter(({ name }) => name === "Claude Code's teams").map(({ found }) => found);
    expect(said.filter((one) => one.includes('is read-only'))).toHaveLength(6);
    expect(said.join()).toContain('"linked" is read-only: inboxes is a symbolic link');
  });
});
