import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { plainGit, write } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import { makeProject, up } from './work-project.ts';

const able = findSandbox(process.env);

describe('a team in a sandbox', needs(able.program !== undefined, `no sandbox here: ${able.why}`), () => {
  const newStage = shareDaemon();

  test('works, talks to its daemon and lands its work; member, gate and setup reach nothing else', async () => {
    const stage = newStage();
    const { directory } = stage.home;
    const outside = join(stage.folder, 'outside');
    const port = await serve('secret');
    // It prints what it could take: nothing.
    const escape = `
cat ${directory}/token ${directory}/processes/*.token ${directory}/journal.db 2>/dev/null
ls ${directory}/workspaces/${stage.team} 2>/dev/null | grep -vx "$(basename "$PWD")"
(echo x > ${outside}) 2>/dev/null
ls ${stage.folder}/project 2>/dev/null
kill -0 ${process.pid} 2>/dev/null && echo seen
node -e 'fetch("http://127.0.0.1:${port}").then((r) => r.text()).then(console.log, () => {})'
exit 0
`;
    const edit = `
sh ./escape.sh > took-$NAME.txt
git log --oneline > log-$NAME.txt
git -c user.name=x -c user.email=x@x commit -q --allow-empty -m mine
troupe task show "$TASK" --team "$TROUPE_TEAM_ID" > task-$NAME.txt
(env -i setsid sleep 600 &)
`;
    const gate = `#!/bin/sh
took=$(sh ./escape.sh)
[ -z "$took" ] && [ -z "$TROUPE_HOME" ] && exit 0
echo "took: $took" >&2
exit 2
`;
    const repository = makeProject(stage, edit, {
      sandbox: true,
      work: { setup: { command: 'sh ./escape.sh > setup.log', sandbox: true } },
      hooks: { TaskCompleted: { command: './gate.sh', sandbox: true, onFailure: 'block' } },
    });
    write(repository, { 'escape.sh': escape, '.gitignore': '*.log\n' });
    writeFileSync(join(repository, 'gate.sh'), gate);
    plainGit(repository, 'add', '.gitignore', 'escape.sh', 'gate.sh');
    plainGit(repository, 'commit', '-qm', 'escapes');
    const { code, stdout, stderr } = await up(stage, repository, '--keep');
    expect(code, `${stdout}${stderr}`).toBe(0);
    const branch = `refs/heads/troupe/${stage.team}`;
    const depot = join(directory, 'depots', readdirSync(join(directory, 'depots'))[0] ?? '');
    for (const name of ['ann', 'bob']) {
      expect(plainGit(depot, 'show', `${branch}:took-${name}.txt`)).toBe('');
      expect(plainGit(depot, 'show', `${branch}:log-${name}.txt`)).toMatch(/escapes/);
      expect(plainGit(depot, 'show', `${branch}:task-${name}.txt`)).toMatch(name === 'ann' ? /First/ : /Second/);
      const workspace = join(directory, 'workspaces', stage.team, name);
      expect(readFileSync(join(workspace, 'setup.log'), 'utf8')).toBe('');
    }
    expect(existsSync(outside)).toBe(false);
    await until('no box is left of the programs', () => readdirSync(join(directory, 'box')).length <= 2);
  });

  test('is asked for by a command too, refused with the reason, and recommended for members that ask nothing', async () => {
    const stage = newStage();
    const { team } = stage;
    const file = stage.teamFile({ team, members: [{ name: 'free', agent: { exec: 'true' }, mode: 'full' }] });
    const raised = await stage.troupe('up', file, '--yes', '--detach');
    expect(raised.code, raised.stderr).toBe(0);
    expect(raised.stderr).toMatch(/free may do everything as you.*sandbox: true/s);
    const spawn = (name: string, agent: string, sandbox: string) =>
      stage.troupe('member', 'spawn', name, '--team', team, '--agent', agent, '--sandbox', sandbox, '--json');
    const refused = await spawn('native', 'claude-native', 'true');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/cannot run in a sandbox: its terminal, tmux, is outside/);
    const boxed = await spawn('boxed', '{"exec":"true"}', '{"network":["github.com"]}');
    expect(JSON.parse(boxed.stdout)).toMatchObject({ agent: { sandbox: { network: ['github.com'] } } });
    const wrong = await spawn('wrong', '{"exec":"true"}', '{"network":["localhost"]}');
    expect(wrong.stderr).toMatch(/name the port/);
    expect((await stage.troupe('down', team, '--now')).code).toBe(0);
  });
});

async function serve(text: string): Promise<number> {
  const server = createServer((_, answer) => answer.end(text));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
