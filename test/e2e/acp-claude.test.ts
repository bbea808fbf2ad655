import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { steps, testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import { needs } from '../tools.ts';
import { openEditor, toolCalls } from './acp-client.ts';
import { setStage } from './stage.ts';

const program = agentProgram('claude');

describe('Claude Code as the lead of a session', needs(program !== undefined, 'Claude Code is not installed'), () => {
  test('asks the editor before it runs a command, shows its edits as diffs, and says its answer once', async () => {
    const stage = setStage();
    const place = testPlace();
    const path = join(place.cwd, 'hello.txt');
    const answer = 'Done:\n\n- wrote **hello.txt**\n- counted its lines';
    const script = steps(
      { text: 'I begin.', calls: [{ name: 'Write', input: { file_path: path, content: 'hello\n' } }] },
      { calls: [{ name: 'Bash', input: { command: 'node -e 0', description: 'Marks it' } }] },
      { text: answer },
    );
    const { entry, model } = await setUp('claude', place, script);
    onTestFinished(() => model.close());
    stage.teamFile({ team: stage.team, lead: { name: 'boss', agent: 'claude', mode: 'edit', ...entry } });

    const editor = await openEditor(stage.home);
    const session = await editor.newSession(stage.folder);
    expect(await editor.prompt(session, 'Write a greeting')).toBe('end_turn');
    expect(readFileSync(path, 'utf8')).toBe('hello\n');
    const said = editor.text(session);
    expect(said).toContain('I begin.');
    expect(said.split('counted its lines')).toHaveLength(2);
    expect(said).toContain(answer);
    const calls = toolCalls(editor.updates(session));
    expect(calls).toContainEqual({
      title: `boss: Write ${path}`,
      status: 'completed',
      content: expect.arrayContaining([{ type: 'diff', path, oldText: null, newText: 'hello\n' }]),
    });
    expect(calls).toContainEqual(expect.objectContaining({ title: 'boss: Bash node -e 0', status: 'completed' }));
    const asked = editor.asked.filter(({ toolCall }) => toolCall.title?.startsWith('boss: '));
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(asked)).toContain('node -e 0');
  });
});
