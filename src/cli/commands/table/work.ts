import type { Command } from '../../line/command.ts';
import { TEAM_HERE } from '../../line/inputs.ts';

/** Commands about what members changed. */
export const WORK_COMMANDS: readonly Command[] = [
  {
    words: 'diff',
    summary: 'Show what the team, a task or a member changed',
    args: [{ field: 'of', name: 'of', type: 'string', text: 'a task or a member; leave it out for all that landed' }],
    flags: [
      TEAM_HERE,
      { field: 'path', name: 'path', type: 'string', text: 'only this file or folder of the repository' },
      { field: 'stat', name: 'stat', type: 'boolean', text: 'only the files and how many lines' },
    ],
    operation: 'work.diff',
    scope: 'reader',
    mayBeClosed: true,
    load: () => import('../diff.ts'),
  },
  {
    words: 'merge',
    summary: "Merge a team's branch into your checkout, with your own git",
    args: [],
    flags: [TEAM_HERE],
    scope: 'admin',
    mayBeClosed: true,
    more: 'Until then, nothing in your repository changes. A merge that would conflict is not begun.',
    load: () => import('../merge.ts'),
  },
  {
    words: 'work clean',
    summary: 'Show what workspaces left behind, and remove what you name',
    args: [{ field: 'ids', name: 'ids', type: 'list', text: 'what to remove; trash: all folders in the trash' }],
    flags: [{ field: 'yes', name: 'yes', type: 'boolean', text: 'do not ask', short: 'y' }],
    operation: 'work.clean',
    scope: 'admin',
    more: 'Folders go 14 days after they were put into the trash. Work that is on no branch, and branches of deleted teams, go 30 days after the branch of the team was merged, else only by this command.',
    load: () => import('../work-clean.ts'),
  },
  {
    words: 'patch',
    summary: 'Write what the team, a task or a member changed as a patch for git am or git apply',
    args: [{ field: 'of', name: 'of', type: 'string', text: 'a task or a member; leave it out for all that landed' }],
    flags: [
      TEAM_HERE,
      {
        field: 'output',
        name: 'output',
        type: 'string',
        text: 'the file to write (default: standard output)',
        short: 'o',
      },
    ],
    scope: 'reader',
    mayBeClosed: true,
    load: () => import('../patch.ts'),
  },
  {
    words: 'pr',
    summary: "Push a team's branch with your own git, and open a pull request with gh",
    args: [],
    flags: [
      TEAM_HERE,
      { field: 'remote', name: 'remote', type: 'string', text: 'where to push (default: origin, or the only remote)' },
      { field: 'base', name: 'base', type: 'string', text: "the branch to merge into (default: the server's)" },
      { field: 'title', name: 'title', type: 'string', text: 'the title (default: from the tasks)' },
      { field: 'draft', name: 'draft', type: 'boolean', text: 'open it as a draft' },
    ],
    scope: 'admin',
    mayBeClosed: true,
    more: 'Your branches and files stay as they are. Without gh, it pushes the branch and prints the commands.',
    load: () => import('../pr.ts'),
  },
];
