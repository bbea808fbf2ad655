import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newTroupe } from './troupe.ts';
import type { Troupe } from './troupe.ts';

/** A stand-in for Claude Code: prints its arguments, and starts teammates with odd names. */
const CLAUDE = `#!/bin/sh
echo "claude $*"
[ -n "$CLAUDE_CODE_TEAMMATE_COMMAND" ] || exit 0
[ "$1" = --agent-name ] && exit 0
echo "teams $CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
for name in 'ann' '$(touch canary)' '; touch canary' '*' 'tester/../ann' ''; do
  "$CLAUDE_CODE_TEAMMATE_COMMAND" --agent-name "$name" --team-name lab
done
exit 7
`;

/** A troupe with a PATH of its own, which has the given program as `claude`. */
function withClaude(program?: string): { troupe: Troupe; env: Record<string, string>; cwd: string } {
  const troupe = newTroupe();
  const bin = join(troupe.home, '../bin');
  mkdirSync(bin, { recursive: true });
  if (program !== undefined) writeFileSync(join(bin, 'claude'), program, { mode: 0o755 });
  const PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  return { troupe, env: { PATH, TMUX: '/tmp/none,1,0' }, cwd: bin };
}

describe('troupe claude', () => {
  test('says what is missing: Claude Code, tmux, an agent of that name, a pair', async () => {
    const without = withClaude();
    expect((await without.troupe.run('claude', { env: without.env })).stderr).toContain('npm install -g');
    const { troupe, env, cwd } = withClaude(CLAUDE);
    expect((await troupe.run('claude', { env: { ...env, TMUX: '' } })).stderr).toContain(': run "tmux new-session"');
    const bare = { ...env, TMUX: '', PATH: `${cwd}:${dirname(process.execPath)}` };
    expect((await troupe.run('claude', { env: bare })).stderr).toContain(': install tmux, run "tmux new-session"');
    expect((await troupe.run('claude', { env })).stderr).toMatch(/needs a terminal to lead a team: .* -p PROMPT/);
    const unknown = await troupe.run('claude --agent tester=codx -- -p hello', { env });
    expect(unknown.stderr).toMatch(/no agent named "codx": did you mean codex\?/);
    expect((await troupe.run('claude --agent tester', { env })).stderr).toContain('NAME=AGENT');
    expect((await troupe.run(['claude', '--agent', '$(touch x)=claude'], { env })).stderr).toContain('NAME=AGENT');
    expect((await troupe.run('claude --help')).stdout).toMatch(/config\.yaml/);
  });

  test('starts it with a stand-in that runs Claude Code for each teammate without a player, whatever its name', async () => {
    const { troupe, env } = withClaude(CLAUDE);
    const { status, stdout, stderr } = await troupe.run(['claude', '--agent', 'tester=claude', '--', '-p', 'a, b'], {
      env,
    });
    expect(stderr).not.toMatch(/troupe: [^s]/);
    expect(status).toBe(7);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('claude --teammate-mode tmux -p a, b');
    expect(lines[1]).toBe('teams 1');
    expect(lines.slice(2)).toEqual(
      ['ann', '$(touch canary)', '; touch canary', '*', 'tester/../ann', ''].map(
        (name) => `claude --agent-name ${name} --team-name lab`,
      ),
    );
    expect(existsSync('canary')).toBe(false);
    expect(readdirSync(join(troupe.home, 'claude'))).toEqual([]);
  });

  test('lists players by precedence: the command line, then config.yaml, then names', async () => {
    const { troupe, env } = withClaude(CLAUDE);
    mkdirSync(troupe.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(troupe.home, 'config.yaml'), 'teammates:\n  poet-*: { agent: { exec: ./poet.sh } }\n');
    writeFileSync(join(dirname(troupe.home), 'bin/codex'), '#!/bin/sh\n', { mode: 0o755 });
    const players = await troupe.json<{ pattern: string; source: string }[]>(
      ['native', 'players', '--agents', '{"poet-1":"claude"}'],
      { env },
    );
    expect(players.map(({ pattern, source }) => [pattern, source])).toEqual([
      ['poet-1', 'command line'],
      ['poet-*', 'config.yaml'],
      ['codex', 'name'],
      ['codex-*', 'name'],
    ]);
  });
});
