import type { Command } from '../../line/command.ts';
import { OPTIONAL_TEAM, TEAM } from '../../line/inputs.ts';

/** Commands that create teams and work with them. */
export const WORK_COMMANDS: readonly Command[] = [
  {
    words: 'run',
    summary: 'Give a goal to a team of agents, show it at work, print the answer of its lead',
    args: [
      {
        field: 'goal',
        name: 'goal',
        type: 'string',
        text: 'what it is to achieve; - reads it from standard input',
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
      { field: 'keep', name: 'keep', type: 'boolean', text: 'leave the team up when it is done' },
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
    summary: 'Bring a team up from its file, show it at work, take it down when all is done',
    args: [{ field: 'file', name: 'file', type: 'string', text: 'the team file', default: 'troupe.yaml' }],
    flags: [
      { field: 'yes', name: 'yes', type: 'boolean', text: 'approve the hooks of the file', short: 'y' },
      {
        field: 'detach',
        name: 'detach',
        type: 'boolean',
        text: 'return at once; the team works on, and stays open until troupe down',
        short: 'd',
      },
      {
        field: 'keep',
        name: 'keep',
        type: 'boolean',
        text: 'leave the team up when the work is done, until troupe down',
      },
      { field: 'once', name: 'once', type: 'boolean', text: 'close the team at the end also when not all was done' },
      {
        field: 'again',
        name: 'again',
        type: 'boolean',
        text: 'begin anew in the place of a team that is closed, which is deleted',
      },
      {
        field: 'panes',
        name: 'panes',
        type: 'boolean',
        text: 'a pane per member inside tmux or iTerm2; --no-panes for none',
      },
    ],
    more: 'It ends with 0 when every task is completed, else with 1; the team then stays open, and the same command goes on with it. Ctrl-C stops the members, and leaves the team as it is; once more, it leaves at once.',
    load: () => import('../up.ts'),
  },
  {
    words: 'claude',
    summary: "Start Claude Code inside tmux with other agents among its teammates: Codex, Gemini, any of Troupe's",
    args: [{ field: 'args', name: 'args', type: 'words', text: 'what goes to Claude Code itself, after --' }],
    flags: [
      {
        field: 'agent',
        name: 'agent',
        type: 'list',
        text: 'NAME=AGENT: who plays the teammate of that name, such as tester=codex; * is any end of a name',
      },
    ],
    scope: 'admin',
    more:
      'Who plays a teammate is decided by its name, the first that fits: --agent; what "teammates" in config.yaml of the state directory says; ' +
      'an agent that is installed, for those called after it (codex, codex-2). All others are Claude Code. "troupe native players" shows who.',
    load: () => import('../claude.ts'),
  },
  {
    words: 'init',
    summary: 'Write a team file to start from; --list says which there are',
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
        text: 'who they are, such as claude,codex (default: the agents that are found here)',
      },
      { field: 'file', name: 'file', type: 'string', text: 'where to write it', default: 'troupe.yaml' },
      { field: 'list', name: 'list', type: 'boolean', text: 'say what kinds there are, and write nothing' },
      { field: 'force', name: 'force', type: 'boolean', text: 'over a file that is there' },
    ],
    load: () => import('../init.ts'),
  },
  {
    words: 'approve',
    summary: 'See what waits for you in all teams (permissions, plans, gates, budgets, restarts), or answer it',
    args: [
      {
        field: 'requestId',
        name: 'request',
        type: 'string',
        text: 'what you answer, or whose; leave it out to see all',
      },
    ],
    flags: [
      OPTIONAL_TEAM,
      { field: 'deny', name: 'deny', type: 'boolean', text: 'say no' },
      { field: 'again', name: 'again', type: 'boolean', text: 'neither: run the gate again over the work as it is' },
      { field: 'feedback', name: 'feedback', type: 'string', text: 'what the one who asked is told' },
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
      { field: 'messageId', name: 'message-id', type: 'string', text: 'an id of your own; sending again with the same id does nothing' },
      { field: 'metadata', name: 'metadata', type: 'json', text: 'free data as JSON' },
    ],
    scope: 'member',
    load: () => import('../send.ts'),
  },
  {
    words: 'notes',
    summary: 'What the team knows: read and add notes, search them and the results of tasks, see what happened',
    args: [
      {
        field: 'verb',
        name: 'verb',
        type: 'string',
        text: 'what to do: log is what happened to the team',
        values: ['list', 'add', 'search', 'log'],
        default: 'list',
      },
      { field: 'text', name: 'text', type: 'string', text: 'the note, or what to look for; - reads standard input' },
    ],
    flags: [
      TEAM,
      { field: 'tags', name: 'tag', type: 'list', text: 'tags of the new note; the one that listed notes have' },
      { field: 'limit', name: 'limit', type: 'number', text: 'at most so many; of log, lines', short: 'n' },
    ],
    scope: 'reader',
    load: () => import('../notes.ts'),
  },
];
