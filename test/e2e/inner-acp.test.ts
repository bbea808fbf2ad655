import { expect, test } from 'vitest';
import { BIN } from '../daemon/serve.ts';
import { until } from '../until.ts';
import { openEditor } from './acp-client.ts';
import { fixture, makeNested } from './nested.ts';
import { shareDaemon } from './stage.ts';

const newStage = shareDaemon();

const TROUPE = `"${process.execPath}" "${BIN}"`;

/** A program that wants a permission twice, in the same words. */
const WORK = `
[ -n "$TROUPE_TASK_ID" ] || exit 0
for part in one two; do
  ID=$(${TROUPE} request raise permission "May I write?" --team $TROUPE_TEAM_ID --member ann --as ann --json | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
  until ${TROUPE} request list --team $TROUPE_TEAM_ID --status approved --json | grep -qF "$ID"; do sleep 0.1; done
  echo $part >> part.txt
done`;

test('an editor gets permissions and questions of a team inside a member, with the way there, and answers them', async () => {
  const stage = newStage();
  const repository = makeNested(stage, WORK, {
    prompt: 'ask How many?\nadd ann Write the part',
    outer: {
      lead: { name: 'boss', ...fixture(stage, 'converses') },
      members: [{ name: 'rev', agent: { team: './review/troupe.yaml' } }],
      tasks: [],
    },
  });
  const editor = await openEditor(stage.home);
  const session = await editor.newSession(repository);
  expect(await editor.prompt(session, 'add rev Review it')).toBe('end_turn');
  const way = `${session}/rev`;
  expect(editor.text(session)).toContain(`${way} › chief asks: How many?\n\nYour next message is the answer.`);
  expect(await editor.prompt(session, 'Exactly seven')).toBe('end_turn');
  const inner = `${session}-rev-1`;
  const permissions = editor.asked.filter(({ toolCall }) => toolCall.title === `${way} › ann: May I write?`);
  expect(new Set(permissions.map(({ toolCall }) => toolCall.toolCallId)).size).toBe(2);
  const client = stage.client();
  const answered = await client.call('request.list', { teamId: inner, kind: 'question' });
  expect(answered).toMatchObject([{ status: 'approved', feedback: 'Exactly seven' }]);
  await until('the work has landed', async () => {
    const [task] = await client.call('task.list', { teamId: session });
    return task?.status === 'completed' && task.work?.state === 'landed';
  });
});
