import type { Command } from '../../line/command.ts';
import { TEAM } from '../../line/inputs.ts';

/** Commands that start and end teams. */
export const TEAM_COMMANDS: readonly Command[] = [
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
    summary: 'Write a team file for this project, or from a template; --list shows them',
    args: [
      {
        field: 'template',
        name: 'template',
        type: 'string',
        text: 'what kind of team',
        values: ['project', 'solo', 'script', 'gate', 'review', 'feature', 'mixed', 'debug', 'goal'],
        default: 'project',
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
    words: 'down',
    summary: "Shut a team down: ask every member to stop, stop those that don't in time, close the team",
    args: [TEAM],
    flags: [
      {
        field: 'within',
        name: 'within',
        type: 'duration',
        text: 'how long to wait for members to stop: 30s, 5m',
      },
      { field: 'reason', name: 'reason', type: 'string', text: 'why; agents read it' },
      { field: 'force', name: 'now', type: 'boolean', text: 'do not ask: stop members at once' },
      { field: 'ask', name: 'ask', type: 'boolean', text: '--no-ask: spend no turn of agents on the question' },
    ],
    operation: 'team.down',
    scope: 'lead',
    more: 'Agents may refuse with a reason. After that, or without an answer in time, they are stopped, and their work is kept.',
    load: () => import('../down.ts'),
  },
  {
    words: 'team delete',
    summary: 'Delete a team and everything it recorded; asks first, and elsewhere than on a terminal needs --yes',
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
];
