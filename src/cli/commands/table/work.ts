import type { Command } from '../../line/command.ts';
import { OPTIONAL_TEAM, TEAM } from '../../line/inputs.ts';

/** Commands that create teams and work with them. */
export const WORK_COMMANDS: readonly Command[] = [
  {
    words: 'run',
    summary: 'Give a goal to a team of agents, follow its work, print the answer of its lead',
    args: [
      {
        field: 'goal',
        name: 'goal',
        type: 'string',
        text: 'the goal; - reads it from standard input',
        required: true,
      },
    ],
    flags: [
      { field: 'lead', name: 'lead', type: 'string', text: 'the agent that leads', default: 'claude' },
      { field: 'with', name: 'with', type: 'list', text: 'agents of the teammates, such as codex,gemini' },
      {
        field: 'mode',
        name: 'mode',
        type: 'string',
        text: 'what they may do without asking',
        values: ['plan', 'edit', 'full'],
      },
      { field: 'delegate', name: 'delegate', type: 'boolean', text: 'the lead only coordinates' },
      { field: 'model', name: 'model', type: 'string', text: 'the model of the lead' },
      { field: 'name', name: 'name', type: 'string', text: 'the name of the team (default: made from the goal)' },
      { field: 'folder', name: 'folder', type: 'string', text: 'where they work', default: '.' },
      { field: 'keep', name: 'keep', type: 'boolean', text: 'leave the team open when it is done' },
      {
        field: 'panes',
        name: 'panes',
        type: 'boolean',
        text: 'a pane per member inside tmux or iTerm2; --no-panes for none',
      },
    ],
    scope: 'admin',
    load: () => import('../run.ts'),
  },
  {
    words: 'up',
    summary: 'Start a team from its file, follow its work, close it when all is done',
    args: [{ field: 'file', name: 'file', type: 'string', text: 'the team file', default: 'troupe.yaml' }],
    flags: [
      {
        field: 'yes',
        name: 'yes',
        type: 'boolean',
        text: 'approve all that the file runs: hooks, programs, variables',
        short: 'y',
      },
      {
        field: 'detach',
        name: 'detach',
        type: 'boolean',
        text: 'return at once; the team works in the background until troupe down',
        short: 'd',
      },
      {
        field: 'keep',
        name: 'keep',
        type: 'boolean',
        text: 'leave the team open when the work is done, until troupe down',
      },
      { field: 'once', name: 'once', type: 'boolean', text: 'close the team at the end, even if not all was done' },
      {
        field: 'again',
        name: 'again',
        type: 'boolean',
        text: 'delete the closed team of this name and start over',
      },
      {
        field: 'withChanges',
        name: 'with-changes',
        type: 'boolean',
        text: 'take your uncommitted files along into the workspaces of a new team',
      },
      {
        field: 'panes',
        name: 'panes',
        type: 'boolean',
        text: 'a pane per member inside tmux or iTerm2; --no-panes for none',
      },
    ],
    more: 'Exits with 0 if every task is completed, else with 1. In that case the team stays open, and the same command continues it. Ctrl-C stops the members and leaves the team open. A second Ctrl-C exits at once.',
    load: () => import('../up.ts'),
  },
  {
    words: 'claude',
    summary: "Start Claude Code inside tmux with other agents among its teammates: Codex, Gemini, any of Troupe's",
    args: [{ field: 'args', name: 'args', type: 'words', text: 'arguments for Claude Code itself, after --' }],
    flags: [
      {
        field: 'agent',
        name: 'agent',
        type: 'list',
        text: 'NAME=AGENT: which agent plays the teammate NAME, such as tester=codex; a NAME may end with *',
      },
    ],
    scope: 'admin',
    more:
      'The name of a teammate decides which agent plays it. The first match wins: --agent; "teammates" in config.yaml of the state directory; ' +
      'an installed agent, for teammates named after it (codex, codex-2). Claude Code plays all others. "troupe native players" shows the result.',
    load: () => import('../claude.ts'),
  },
  {
    words: 'init',
    summary: 'Write a team file to start from; --list shows the templates',
    args: [
      {
        field: 'template',
        name: 'template',
        type: 'string',
        text: 'what kind of team',
        values: ['solo', 'script', 'gate', 'review', 'feature', 'mixed', 'debug', 'goal'],
        default: 'review',
      },
    ],
    flags: [
      {
        field: 'agents',
        name: 'agents',
        type: 'list',
        text: 'the agents of its members, such as claude,codex (default: the installed ones)',
      },
      { field: 'file', name: 'file', type: 'string', text: 'where to write it', default: 'troupe.yaml' },
      { field: 'list', name: 'list', type: 'boolean', text: 'list the templates, and write nothing' },
      { field: 'force', name: 'force', type: 'boolean', text: 'overwrite an existing file' },
    ],
    load: () => import('../init.ts'),
  },
  {
    words: 'approve',
    summary: 'List or answer the requests that wait for you: permissions, plans, gates, budgets, restarts',
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
    ],
    scope: 'admin',
    load: () => import('../approve.ts'),
  },
  {
    words: 'team delete',
    summary: 'Delete a team and everything it recorded; asks first on a terminal',
    args: [TEAM],
    flags: [
      { field: 'yes', name: 'yes', type: 'boolean', text: 'do not ask', short: 'y' },
      {
        field: 'force',
        name: 'force',
        type: 'boolean',
        text: 'even with live teammates, or if it cannot be read',
      },
    ],
    operation: 'team.delete',
    scope: 'admin',
    load: () => import('../team-delete.ts'),
  },
  {
    words: 'diff',
    summary: 'Show what the team, a task or a member changed',
    args: [{ field: 'of', name: 'of', type: 'string', text: 'a task or a member; leave it out for all that landed' }],
    flags: [TEAM, { field: 'stat', name: 'stat', type: 'boolean', text: 'only the files and how many lines' }],
    operation: 'work.diff',
    scope: 'reader',
    load: () => import('../diff.ts'),
  },
  {
    words: 'merge',
    summary: "Merge a team's branch into your checkout, with your own git",
    args: [],
    flags: [{ ...OPTIONAL_TEAM, text: 'the team; without it, the one that works on the repository you are in' }],
    scope: 'admin',
    more: 'Until then, nothing in your repository changes. A merge that would conflict is not begun.',
    load: () => import('../merge.ts'),
  },
  {
    words: 'send',
    summary: 'Send a message to a member, or with --all to everybody else',
    args: [
      { field: 'toId', name: 'member', type: 'string', text: 'the member it goes to; leave it out with --all' },
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
