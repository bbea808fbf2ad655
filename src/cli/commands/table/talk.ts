import type { Command } from '../../line/command.ts';
import { OPTIONAL_TEAM, TEAM } from '../../line/inputs.ts';

/** Scripts read it from the list in JSON, and answer only what they looked at. */
const REVISION = {
  field: 'revision',
  name: 'revision',
  type: 'string',
  text: 'the revision that you looked at (--json lists it); another one is not answered',
} as const;

/** Commands that ask, answer and tell. */
export const TALK_COMMANDS: readonly Command[] = [
  {
    words: 'approve',
    summary: 'List or answer the requests that wait for you: permissions, plans, work, gates, budgets, questions',
    args: [
      {
        field: 'requestId',
        name: 'request',
        type: 'string',
        text: 'a request or its member; leave it out to list all',
      },
    ],
    flags: [
      OPTIONAL_TEAM,
      { field: 'deny', name: 'deny', type: 'boolean', text: 'say no' },
      {
        field: 'again',
        name: 'again',
        type: 'boolean',
        text: 'run the gate again on the unchanged work, instead of answering',
      },
      { field: 'feedback', name: 'feedback', type: 'string', text: 'your answer in words' },
      {
        field: 'comments',
        name: 'comment',
        type: 'texts',
        text: 'with --deny, of work: what you say about a line, such as "src/a.ts:12: too long"',
      },
      {
        field: 'more',
        name: 'more',
        type: 'number',
        text: 'of a budget: how much more it gets, in its own unit, instead of what the request says',
      },
      REVISION,
    ],
    scope: 'admin',
    load: () => import('../approve.ts'),
  },
  {
    words: 'answer',
    summary: 'Answer a question of a member; troupe approve lists them',
    args: [
      { field: 'requestId', name: 'request', type: 'string', text: 'the question, or its member', required: true },
      {
        field: 'text',
        name: 'answer',
        type: 'string',
        text: 'the number or the text of a choice, or an answer in words; - reads it from standard input',
        required: true,
      },
    ],
    flags: [
      OPTIONAL_TEAM,
      REVISION,
      {
        field: 'asText',
        name: 'as-text',
        type: 'boolean',
        text: 'the answer is a text of its own, also if it is a number',
      },
    ],
    scope: 'admin',
    load: () => import('../answer.ts'),
  },
  {
    words: 'ask',
    summary: 'Ask your user a question, as a member or from its script, and print the answer',
    args: [
      {
        field: 'content',
        name: 'question',
        type: 'string',
        text: 'the question; - reads it from standard input',
        required: true,
      },
    ],
    flags: [
      TEAM,
      { field: 'choices', name: 'choice', type: 'texts', text: 'one answer to choose from; repeat it for each' },
      {
        field: 'freeText',
        name: 'free-text',
        type: 'boolean',
        text: 'any other text is an answer, too; --no-free-text: only the choices',
      },
      {
        field: 'within',
        name: 'within',
        type: 'duration',
        text: 'how long an answer is waited for: 30m, 8h (default: a day)',
      },
      {
        field: 'otherwise',
        name: 'otherwise',
        type: 'string',
        text: 'without an answer: go on without one, or the task fails',
        values: ['go-on', 'fail'],
        default: 'go-on',
      },
      { field: 'fallback', name: 'fallback', type: 'string', text: 'the choice that counts without an answer' },
      {
        field: 'taskId',
        name: 'task',
        type: 'string',
        text: 'the task it is about (default: the one the member holds)',
      },
      {
        field: 'wait',
        name: 'wait',
        type: 'boolean',
        text: 'wait for the answer; --no-wait prints the id of the question',
      },
    ],
    more: 'Exits with 0 and prints the answer, or the default choice. Exits with 1 if nobody answered. A question that is asked again while it is open is asked once.',
    scope: 'member',
    load: () => import('../ask.ts'),
  },
  {
    words: 'send',
    summary: 'Send a message to a member, or with --all to everybody else',
    args: [
      {
        field: 'toId',
        name: 'member',
        type: 'string',
        text: 'the member it goes to; lead@TEAM is the lead of another team; leave it out with --all',
      },
      { field: 'content', name: 'text', type: 'string', text: 'the text; - reads it from standard input' },
    ],
    flags: [
      TEAM,
      { field: 'all', name: 'all', type: 'boolean', text: 'to everybody else on the team' },
      { field: 'urgent', name: 'urgent', type: 'boolean', text: 'reach a running turn instead of waiting for its end' },
      { field: 'summary', name: 'summary', type: 'string', text: 'what it is about, in one line' },
      {
        field: 'messageId',
        name: 'message-id',
        type: 'string',
        text: 'an id of your own; sending again with the same id does nothing',
      },
      { field: 'metadata', name: 'metadata', type: 'json', text: 'your own data, as JSON' },
    ],
    scope: 'member',
    load: () => import('../send.ts'),
  },
  {
    words: 'notes',
    summary: 'Read and add notes, search notes and task results, show the log of the team',
    args: [
      {
        field: 'verb',
        name: 'verb',
        type: 'string',
        text: 'what to do; log shows the events of the team',
        values: ['list', 'add', 'search', 'log'],
        default: 'list',
      },
      { field: 'text', name: 'text', type: 'string', text: 'the note, or what to look for; - reads standard input' },
    ],
    flags: [
      TEAM,
      { field: 'tags', name: 'tag', type: 'list', text: 'tags of a new note; with list, the tag to look for' },
      { field: 'limit', name: 'limit', type: 'number', text: 'at most this many; with log, lines', short: 'n' },
    ],
    scope: 'reader',
    load: () => import('../notes.ts'),
  },
];
