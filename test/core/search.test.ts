import { expect, test } from 'vitest';
import { matcherOf } from '../../src/core/excerpt.ts';
import { hitOf, rankOf, searchableMessage, searchablesOf } from '../../src/core/search.ts';
import { createState } from '../../src/core/state.ts';
import { Stage } from './stage.ts';

/** A team with something of every kind. */
function stage(): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', description: 'Parses maps', leadAgentType: 'none' });
  team.do('member.join', { name: 'ada', role: 'parser', model: 'opus' });
  team.task({ title: 'Write the parser', description: 'Fast', files: ['src/parse.ts'] });
  team.task({ title: 'Gone parser' });
  team.do('task.delete', { taskId: '2' });
  team.do('note.add', { text: '\nParse first\nthen print', tags: ['order'] });
  team.do('message.send', { messageId: 'm1', toId: 'ada', content: '\n Hello\nparser', summary: 'Greeting' });
  team.do('message.send', { messageId: 'm2', toId: 'ada', content: '\nHello\nagain' });
  return team;
}

test('a team, its members, tasks and notes can be found; what was deleted and empty seats cannot', () => {
  const found = [...searchablesOf(stage().state)].map(({ kind, id, title }) => [kind, id, title]);
  expect(found).toEqual([
    ['team', 'alpha', 'alpha'],
    ['member', 'ada', 'ada'],
    ['task', '1', 'Write the parser'],
    ['note', '1', 'Parse first'],
  ]);
  expect([...searchablesOf(createState('alpha'))]).toEqual([]);
});

test.each([
  ['ada', ['member', 0]],
  ['ADA', ['member', 0]],
  ['#1', ['task', 0]],
  ['t-1', ['task', 0]],
  ['write', ['task', 1]],
  ['the parser', ['task', 2]],
  ['src/parse', ['task', 3]],
  ['opus', ['member', 3]],
  ['order', ['note', 3]],
  ['maps', ['team', 3]],
])('%s finds one thing, as near as it matches', (text, expected) => {
  const wanted = matcherOf(text);
  const ranked = [...searchablesOf(stage().state)].flatMap((one) => {
    const rank = rankOf(one, text, wanted);
    return rank === undefined ? [] : [[one.kind, rank]];
  });
  expect(ranked).toEqual([expected]);
});

test('a hit shows where the text stands; one by number shows only the title', () => {
  const { state } = stage();
  const task = [...searchablesOf(state)].find(({ kind }) => kind === 'task');
  const at = state.tasks.get('1')?.updatedAt;
  const hit = { kind: 'task', teamId: 'alpha', id: '1', title: 'Write the parser', at };
  expect(task && hitOf(task, matcherOf('fast'))).toStrictEqual({ ...hit, before: '', match: 'Fast', after: '' });
  expect(task && hitOf(task, matcherOf('the'))).toEqual({ ...hit, before: 'Write ', match: 'the', after: ' parser' });
  expect(task && hitOf(task, matcherOf('#1'))).toEqual({ ...hit, before: '', match: '', after: '' });
});

test('a message is found in the inbox of its recipient, by its summary or its first line', () => {
  const [first, second] = [...stage().state.messages.values()].map(searchableMessage);
  expect(first).toMatchObject({ kind: 'message', id: 'm1', title: 'Greeting', memberId: 'ada' });
  expect(second).toMatchObject({ id: 'm2', title: 'Hello' });
  expect(first && hitOf(first, matcherOf('parser'))).toMatchObject({
    memberId: 'ada',
    before: '\n Hello\n',
    match: 'parser',
  });
});
