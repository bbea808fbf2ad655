import { z } from 'zod';
import { AgentExtras, NO_SERVERS, NO_URL, ServerName } from '../../core/agent.ts';
import { Labels, Line, Slug, textOf } from '../../core/fields.ts';
import { HookType, HookVariable } from '../../core/hook.ts';
import type { InnerTeam } from '../../core/inner.ts';
import {
  DESCRIPTION_BYTES,
  MAX_DEPTH,
  MAX_MESSAGES_PER_MINUTE,
  MAX_TEAMMATES,
  PROMPT_BYTES,
} from '../../core/limits.ts';
import { BackendType } from '../../core/member.ts';
import { Peers } from '../../core/peers.ts';
import { WorkQuietHours } from '../../core/quiet-hours.ts';
import { Sandbox } from '../../core/sandbox.ts';
import { DependencyFailurePolicy, FilePatterns, SharedTaskPriority, Title } from '../../core/task.ts';
import { RemoteName } from '../../core/team-remote.ts';
import { ApprovePaths } from '../../core/team-work.ts';
import { MaxTeammates, RestartsPerNight, TeammateMode } from '../../core/team.ts';
import { WorkspaceKind } from '../../core/work.ts';
import { TeamNotify } from '../notices/settings.ts';
import { BudgetEntry, ON_LIMIT, OnLimitEntry } from './budget-entries.ts';
import { Command, Duration, Size, Variables, withoutSecret, Words } from './values.ts';

/** What runs a member: a named agent, the user's own program, an agent that speaks ACP, or a team. */
export const AgentRef = z.union([
  Slug.describe('an agent by its name: claude, codex, gemini, opencode …'),
  z.strictObject({
    exec: Command.describe('a program: a shell command, or a list of the program and its arguments'),
    messages: z.boolean().optional().describe('also start it when only mail waits'),
  }),
  z.strictObject({
    acp: Command.describe('a command that speaks ACP'),
  }),
  z.strictObject({
    team: z
      .string()
      .min(1)
      .max(1_024)
      .describe('the file of a team, relative to this file: the member is that team')
      // When the file is read, the team itself takes the place of its name.
      .transform((path): string | InnerTeam => path),
  }),
]);
export type AgentRef = z.output<typeof AgentRef>;

/** A person's answers in advance. */
const Permissions = z.strictObject({
  allow: z.array(z.string()).optional().describe('granted when it asks, such as "shell(npm test*)"'),
  deny: z.array(z.string()).optional().describe('refused when it asks, such as "shell(git push*)"'),
});
const ANSWERS = 'answers in advance; without a matching rule, a person is asked';

const SANDBOX =
  'true: all its processes run apart from your files, your other processes and the network; or what is open there';

/** A server of tools of a member's own. */
const ServerEntry = z.union([
  z.strictObject({
    command: Command.describe('a program that speaks MCP over standard input and output'),
    env: Variables.optional().describe('its variables; ${NAME} comes from the environment of troupe up'),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/, error: NO_URL }).describe('the address of a server that speaks MCP over HTTP'),
    headers: Variables.optional().describe('its headers; ${NAME} comes from the environment of troupe up'),
  }),
]);

/** The settings of an agent, wherever one is named. */
const Setup = {
  model: Line.optional().describe('the model, in the words of its agent'),
  mode: z.enum(['plan', 'edit', 'full']).optional().describe('what it may do without asking'),
  permissions: Permissions.optional().describe(ANSWERS),
  silence: z
    .union([
      z.literal('off'),
      z.strictObject({
        model: Duration.optional().describe('while no tool runs (default: 15m)'),
        tool: Duration.optional().describe('while a tool runs, or a program (exec) (default: 60m)'),
        tools: z.record(z.string(), Duration).optional().describe('for single tools, by name: { Bash: 2h }'),
        process: Duration.optional().describe('of the process that runs the agent (default: 15m)'),
      }),
    ])
    .optional()
    .describe('how long nothing may be heard of a turn before Troupe looks after it; off: for ever'),
  sandbox: Sandbox.optional().describe(SANDBOX),
  effort: AgentExtras.shape.effort,
  mcp: z
    .record(ServerName, ServerEntry, NO_SERVERS)
    .optional()
    .describe('servers of tools (MCP) that only it has, by name'),
  skills: AgentExtras.shape.skills,
  tools: AgentExtras.shape.tools,
  command: Command.optional().describe('a program instead of the one on the PATH'),
  account: Slug.optional().describe(
    'the name of its login: members with the same agent and name share its limits, on every machine',
  ),
  args: Words.optional().describe('added to the arguments that Troupe gives'),
  env: Variables.optional().describe(
    'added to its environment; ${NAME} comes from the environment of troupe up, the only way to pass a secret',
  ),
};

/** An agent with a person's settings. */
export const AgentEntry = z.strictObject({
  agent: AgentRef.optional().describe('the agent that these settings are for (default: the one of this name)'),
  ...Setup,
});

const Runs = {
  agent: AgentRef.describe(
    'what runs it: the name of an agent, a program (exec), a command that speaks ACP (acp), or a team (team)',
  ),
  ...Setup,
  role: Line.optional().describe('its role on the team, in a few words'),
  prompt: textOf(PROMPT_BYTES).optional().describe('what it should know and how it should work'),
  plan: z.enum(['required']).optional().describe('required: its plan must be approved before it changes anything'),
  cwd: z.string().optional().describe('where it works, relative to the folder of this file'),
  workspace: WorkspaceKind.optional().describe(
    "shared: it works in the team's folder; what it changes there lands nowhere. own: also for claude-native, which asks you once to trust its workspace",
  ),
  budget: BudgetEntry.optional().describe('what it may use before a person is asked'),
  quietHours: WorkQuietHours.optional().describe(
    'when no turn of it begins, such as "22:00-07:00"; off: also in those of the team',
  ),
  onLimit: OnLimitEntry.optional().describe(ON_LIMIT),
  host: Slug.optional().describe('the daemon that runs it, if several share the journal'),
  labels: Labels.optional().describe('labels that its daemon must have'),
};

const MemberEntry = z.strictObject({
  name: Slug.describe('its name in the team'),
  ...Runs,
  permissions: z
    .union([z.literal('lead'), Permissions])
    .optional()
    .describe(`${ANSWERS}; lead: the same as the lead's`),
  backend: BackendType.optional().describe('where it is shown'),
});

const TaskEntry = z.strictObject({
  id: z.string().min(1).max(64).optional().describe('a name for `needs`'),
  title: Title.describe('what is to be done, in one line'),
  description: textOf(DESCRIPTION_BYTES).optional().describe('everything else that its holder should know'),
  needs: z.array(z.string()).optional().describe('ids of tasks that must be completed first'),
  assign: Slug.optional().describe('the member who does it'),
  priority: SharedTaskPriority.optional().describe('which of the ready tasks is claimed first'),
  files: FilePatterns.optional().describe(
    'the files that it changes, such as "src/parser/**": tasks that change the same files are done one after another',
  ),
  onDependencyFailure: DependencyFailurePolicy.optional().describe('what happens to it if a task that it needs fails'),
  budget: BudgetEntry.optional().describe('what may be used for it before a person is asked'),
});

const HookEntry = z.strictObject({
  command: withoutSecret(z.string().min(1)).describe(
    'the program: exit code 2 sends the work back, with its error output',
  ),
  executor: z.enum(['shell', 'node']).optional().describe('shell: a shell command; node: a JavaScript file'),
  timeout: Duration.optional().describe('how long it may run, such as "2m"'),
  env: z.array(HookVariable).max(32).optional().describe('names of your environment variables that it may see'),
  onFailure: z.enum(['allow', 'block']).optional().describe('block: a failing gate sends the work back'),
  flaky: z.boolean().optional().describe('true: it sometimes rejects good work, so it is asked once more'),
  sandbox: Sandbox.optional().describe(SANDBOX),
});

const SetupEntry = z.union([
  withoutSecret(z.string().min(1)),
  z.strictObject({
    command: withoutSecret(z.string().min(1)).describe('the shell command'),
    timeout: Duration.optional().describe('how long it may run (default: 15m)'),
    env: z.array(HookVariable).max(32).optional().describe('names of your environment variables that it may see'),
    sandbox: Sandbox.optional().describe(SANDBOX),
  }),
]);

/** A team as a file describes it. */
export const TeamFile = z.strictObject({
  team: Slug.describe('its name'),
  description: textOf(DESCRIPTION_BYTES).optional().describe('what it is for'),
  lead: z
    .union([
      z.enum(['none', 'person']),
      z.strictObject({
        name: Slug.optional().describe('its name in the team (default: lead)'),
        delegate: z.boolean().optional().describe('true: it only coordinates and takes no tasks'),
        ...Runs,
      }),
    ])
    .optional()
    .describe('none: members just do the tasks; person: you lead; else the agent that leads'),
  agents: z
    .record(Slug, AgentEntry)
    .optional()
    .describe('your agents by name: members use them, and a lead may start only these'),
  sandbox: Sandbox.optional().describe(
    'the sandbox of all members that say nothing else; gates and setup have their own',
  ),
  budget: BudgetEntry.optional().describe('what all members together may use before a person is asked'),
  quietHours: WorkQuietHours.optional().describe(
    'when no turn of a member begins, such as "22:00-07:00", in the time zone of the daemon; running turns end normally',
  ),
  peers: Peers.optional(),
  notify: TeamNotify.optional().describe('how people hear of what needs them; sent only after you approved it'),
  onLimit: OnLimitEntry.optional().describe(ON_LIMIT),
  members: z.array(MemberEntry).max(MAX_TEAMMATES).default([]).describe('the teammates'),
  tasks: z.array(TaskEntry).max(1_000).default([]).describe('the tasks, in any order'),
  hooks: z
    .partialRecord(HookType, z.union([HookEntry, z.array(HookEntry)]))
    .optional()
    .describe('your programs that run at fixed moments, such as before a task completes'),
  work: z
    .strictObject({
      workspaces: WorkspaceKind.optional().describe(
        'own: each member works in its own copy of the repository (default in a git repository); shared: all work in one folder',
      ),
      base: Line.min(1).optional().describe('the branch or tag that the team begins from (default: HEAD)'),
      into: Line.min(1).optional().describe('the branch on which work lands (default: troupe/TEAM)'),
      copy: z
        .array(Line.min(1))
        .max(64)
        .optional()
        .describe('ignored files that each workspace gets, such as .env; beside .worktreeinclude'),
      setup: SetupEntry.optional().describe(
        'a command that makes each workspace ready, such as npm ci; runs again when a file that it reads changed',
      ),
      gates: z
        .number()
        .int()
        .min(0)
        .max(32)
        .optional()
        .describe('how many works are judged alone at once, while they wait in the merge queue (default: 2)'),
      history: z
        .enum(['squash', 'keep'])
        .optional()
        .describe('squash: work lands as one commit (default); keep: as a merge commit, with the work beside it'),
      approve: z
        .union([
          z.enum(['always', 'never']),
          z.strictObject({ paths: ApprovePaths.describe('patterns of files, such as migrations/**') }),
        ])
        .optional()
        .describe(
          'which work you are asked about before it lands: always, never (default), or what changes these files',
        ),
      review: Slug.optional().describe('the member that reviews work before it lands'),
      remote: RemoteName.optional().describe(
        'the git remote by which work travels between machines, such as origin; for large repositories and git-lfs (default: beside the journal)',
      ),
    })
    .optional()
    .describe('where the members work'),
  mode: TeammateMode.optional().describe('the terminal in which to show teammates'),
  limits: z
    .strictObject({
      maxTeammates: MaxTeammates,
      depth: z
        .number()
        .int()
        .min(0)
        .max(MAX_DEPTH)
        .optional()
        .describe('how deep teams may be inside of this one (default: 2); of the outermost team'),
      messagesPerMinute: z
        .number()
        .int()
        .min(1)
        .max(MAX_MESSAGES_PER_MINUTE)
        .optional()
        .describe('what each member may send'),
      restartsPerNight: RestartsPerNight,
      fileSize: Size.optional().describe('the largest file that a member may hand in (default: 50MB)'),
      workSize: Size.optional().describe('the most that a member may change for one task (default: 200MB)'),
      disk: Size.optional().describe(
        'what all workspaces of the team may take on a machine; at the limit no new one is opened (default: 20GB)',
      ),
    })
    .optional()
    .describe('limits of the team'),
});
export type TeamFile = z.output<typeof TeamFile>;
