import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { isSlug, Line, Slug, suggestSlug, textOf } from '../core/fields.ts';
import { MAX_TEAMMATES, PROMPT_BYTES } from '../core/limits.ts';
import { parse } from '../core/parse.ts';
import { TeamConfig } from '../core/team.ts';
import { quote } from '../core/text.ts';
import { viewTeam } from '../core/view.ts';
import { approvePrograms, exposedIn, findUnapproved } from '../runtime/team-file/approval.ts';
import type { Unapproved } from '../runtime/team-file/approval.ts';
import { describeBudgets } from '../runtime/team-file/budgets.ts';
import { agentsOf } from '../runtime/team-file/file-agents.ts';
import { describeKept } from '../runtime/team-file/kept.ts';
import { NOTIFY } from '../runtime/team-file/notify.ts';
import { findElsewhere, placeOf, requirePlace } from '../runtime/team-file/place.ts';
import { raiseTeam, requireBegin } from '../runtime/team-file/raise.ts';
import type { RaiseOptions } from '../runtime/team-file/raise.ts';
import { findUnrunnable } from '../runtime/team-file/runnable.ts';
import { TeamFile } from '../runtime/team-file/schema.ts';
import { readWanted } from '../runtime/team-file/wanted.ts';
import { brokenIn, describeBrokenIn, filesIn, mergePrograms, programsIn } from '../runtime/team-file/whole.ts';
import { problemsOf } from '../runtime/yaml-file.ts';
import { operation } from './operation.ts';
import { removeTeam } from './team.ts';
import { CheckedFile } from './up-check.ts';
import { Environment, givenTo, Outdated, variablesIn, withEnvironment } from './up-environment.ts';
import { describePlan, workFor } from './up-work.ts';

const Source = z.strictObject({
  source: z.string().describe('the text of the team file'),
  name: z.string().max(4_096).default('troupe.yaml').describe('the name of the file, for errors'),
  folder: z.string().max(4_096).refine(isAbsolute, 'must be absolute').describe('the folder of the file'),
  team: Slug.optional().describe('the name of the team, in place of the one in the file'),
});

/** An agent by its name. For a program, suggesting a similar name would not help, so the error shows the team file. */
const AgentName = z.string().superRefine((text, context) => {
  if (isSlug(text)) return;
  const message = `${quote(text)} is not the name of an agent. To run your own program, write agent: { exec: ${text} } in a team file and use troupe up`;
  context.addIssue({ code: 'custom', message });
});

const RaisedTeam = TeamConfig.extend({
  outdated: Outdated.optional(),
  leftOut: z
    .array(z.string())
    .optional()
    .describe('uncommitted files that could not be taken along, each with the reason'),
});

export const upOperations = [
  operation({
    name: 'team.check',
    summary: 'Check a team file, and list what it runs that is not approved',
    scope: 'admin',
    input: Source.extend({ environment: Environment }),
    result: CheckedFile,
    route: 'POST /api/check',
    cli: { args: ['source'], examples: ['troupe team check - --folder "$PWD" < troupe.yaml'] },
    run: async ({ ledger, hooks, daemon, works }, { source, name, folder, environment, team }) => {
      const { file, parts } = readWanted({ source, name, folder, team }, daemon);
      const all = programsIn(parts);
      const unapproved = all.flatMap((programs) => findUnapproved(hooks, programs));
      const place = placeOf(folder, name, daemon.hostId);
      const { elsewhere, standing, budgets, kept } = await ledger.view(file.team, (state) => ({
        standing: state.team && (state.team.status === 'cleaned-up' ? ('closed' as const) : ('open' as const)),
        elsewhere: findElsewhere(state.team, place),
        budgets: describeBudgets(state, file),
        kept: describeKept(state, file),
      }));
      const variables = variablesIn(filesIn(parts), daemon);
      const given = givenTo(filesIn(parts), daemon, environment);
      // Nobody should read what is refused afterwards.
      const judged = unapproved.length > 0 && { programs: mergePrograms(all) };
      const work = await describePlan({ ledger, works, daemon }, { file, folder, name, ...judged });
      return {
        ...(work && { work }),
        team: file.team,
        members: file.members.length,
        tasks: file.tasks.length,
        leads: typeof file.lead === 'object',
        ...(standing && { standing }),
        ...(elsewhere && { elsewhere }),
        broken: brokenIn(hooks, all),
        unrunnable: parts.flatMap((part) =>
          findUnrunnable(part.file, part, (agents) => daemon.requireAgents?.(agents, given)),
        ),
        unapproved,
        exposed: parts.flatMap((part) =>
          exposedIn(part.file, part.folder).map((who) => [...part.within, who].join(' › ')),
        ),
        budgets,
        kept,
        ...(variables && { variables: { ...variables, isShared: daemon.hostId !== undefined } }),
      };
    },
  }),
  operation({
    name: 'team.up',
    summary: 'Create a team from its file, or add what is missing',
    scope: 'admin',
    input: Source.extend({
      approve: z.array(z.string()).default([]).describe('hashes of hooks and agents that the person approves'),
      yes: z.boolean().default(false).describe('approve everything that the file runs'),
      again: z
        .boolean()
        .default(false)
        .describe('start a closed team over: delete it, then create it from the file; an open team is refused'),
      withChanges: z
        .boolean()
        .default(false)
        .describe('take the uncommitted files of the checkout along into the workspaces of a new team'),
      goal: textOf(PROMPT_BYTES).optional().describe('what the lead is told first, after its prompt in the file'),
      environment: Environment,
    }),
    result: RaisedTeam,
    route: 'POST /api/up',
    cli: { args: ['source'], examples: ['troupe team up - --folder "$PWD" --yes < troupe.yaml'] },
    run: async ({ ledger, hooks, sessions, daemon, actor, works }, input) => {
      const { name, folder, approve, yes, again, withChanges, environment } = input;
      const { file, parts } = readWanted(input, daemon);
      const place = placeOf(folder, name, daemon.hostId);
      await ledger.view(file.team, (state) => {
        requirePlace(state, place);
        requireBegin(state, { again });
      });
      const given = givenTo(filesIn(parts), daemon, environment);
      const unrunnable = parts.flatMap((part) =>
        findUnrunnable(part.file, part, (agents) => daemon.requireAgents?.(agents, given)),
      );
      if (unrunnable.length > 0) throw problemsOf(unrunnable, name);
      const all = programsIn(parts);
      const broken = describeBrokenIn(hooks, parts, all);
      if (broken !== undefined) throw new TeamError('invalid', broken);
      for (const one of all) approvePrograms(hooks, one, (hash) => yes || approve.includes(hash));
      const programs = mergePrograms(all);
      // Notices that nobody approved are not sent; the team needs none.
      const left = all.flatMap((one) => findUnapproved(hooks, one)).filter(({ type }) => type !== NOTIFY);
      if (left.length > 0) throw unapprovedError(left, name);
      const asked = { file, folder, name, withChanges, again, ...(programs && { programs }) };
      const { work, leftOut } = await workFor({ ledger, works, daemon }, asked);
      const judge: RaiseOptions['judge'] = async (registered, tasks) => {
        const unwanted = await hooks.judgeNewTasks(file.team, { hooks: registered, tasks, createdBy: actor });
        if (unwanted.length === 0) return;
        const said = unwanted.map(({ title, feedback }) => `  ${quote(title)}: ${feedback.replaceAll('\n', '\n    ')}`);
        throw new TeamError(
          'gate_rejected',
          `A hook rejected ${unwanted.length} of the tasks of ${name}, so nothing was created:\n${said.join('\n')}`,
        );
      };
      const outdated = await withEnvironment({ ledger, sessions, daemon }, { teamId: file.team, given }, (keep) => {
        const remove = (): Promise<void> => removeTeam({ ledger, daemon, works }, file.team).then(keep);
        return raiseTeam(ledger, file, place, { judge, work, ...(again && { remove }) });
      });
      if (work) await works?.align(file.team);
      return {
        ...(await ledger.view(file.team, viewTeam)),
        ...(outdated && { outdated }),
        ...(leftOut.length > 0 && { leftOut: [...leftOut] }),
      };
    },
  }),
  operation({
    name: 'team.run',
    summary: 'Create a team for a goal: a lead and teammates',
    scope: 'admin',
    input: z.strictObject({
      goal: textOf(PROMPT_BYTES).describe('the goal of the team'),
      lead: AgentName.default('claude').describe('the agent that leads'),
      with: z
        .array(AgentName)
        .max(MAX_TEAMMATES)
        .default([])
        .describe('agents of the teammates; the lead may start more'),
      name: Slug.optional().describe('the name of the team (default: made from the goal)'),
      folder: z.string().max(4_096).refine(isAbsolute, 'must be absolute').describe('where they work'),
      model: Line.optional().describe('the model of the lead'),
      mode: z.enum(['plan', 'edit', 'full']).optional().describe('what they may do without asking'),
      delegate: z.boolean().default(false).describe('the lead only coordinates'),
      environment: Environment,
    }),
    result: TeamConfig,
    route: 'POST /api/run',
    cli: { args: ['goal'], examples: ['troupe team run "review the auth module" --with codex,gemini --folder "$PWD"'] },
    run: async ({ ledger, sessions, daemon, works }, input) => {
      const team = input.name ?? nameFor(input.goal, new Set(await ledger.teams()));
      const file = teamFor(team, input);
      const given = givenTo([file], daemon, input.environment);
      daemon.requireAgents?.(agentsOf(file, input.folder), given);
      const place = placeOf(input.folder, undefined, daemon.hostId);
      const asked = { file, folder: input.folder, withChanges: false, again: false };
      const { work } = await workFor({ ledger, works, daemon }, asked);
      await withEnvironment({ ledger, sessions, daemon }, { teamId: team, given }, () =>
        raiseTeam(ledger, file, place, { work }),
      );
      if (work) await works?.align(team);
      return ledger.view(team, viewTeam);
    },
  }),
] as const;

/** A file may come from somebody else, so nothing of it runs before a person has read it. */
function unapprovedError(left: readonly Unapproved[], name: string): TeamError {
  const [first] = left as [Unapproved];
  const what =
    first.type === 'agent'
      ? `What ${first.members.join(', ')} ${first.members.length > 1 ? 'run' : 'runs'} in ${name} (${quote(first.command)})`
      : `The ${first.type === 'setup' ? 'setup' : `${first.type} hook`} ${quote(first.command)} of ${name}`;
  const others = left.length > 1 ? `, and ${left.length - 1} more of its commands are not` : '';
  return new TeamError('not_allowed', `${what} is not approved${others}: read it first`, {
    facts: { option: { field: 'yes', effect: 'approve all that it runs' } },
  });
}

/** Numbers agents of the same kind. The lead may start more of them or, if none are given, of its own kind. */
function teamFor(
  team: string,
  {
    goal,
    lead,
    with: others,
    model,
    mode,
    delegate,
  }: {
    goal: string;
    lead: string;
    with: readonly string[];
    model?: string | undefined;
    mode?: 'plan' | 'edit' | 'full' | undefined;
    delegate: boolean;
  },
): TeamFile {
  const setup = mode === undefined ? {} : { mode };
  const members = others.map((agent, i) => {
    const before = others.slice(0, i).filter((other) => other === agent).length;
    return { name: before === 0 ? agent : `${agent}-${before + 1}`, agent };
  });
  const kinds = new Set(others.length > 0 ? others : [lead]);
  return parse(TeamFile, {
    team,
    description: goal.split('\n', 1)[0],
    lead: { agent: lead, prompt: goal, delegate, ...setup, ...(model !== undefined && { model }) },
    agents: Object.fromEntries([...kinds].map((kind) => [kind, setup])),
    members,
  });
}

/** A name made from the goal that no team has yet. */
function nameFor(goal: string, taken: ReadonlySet<string>): string {
  const words = suggestSlug(goal.split(/\s+/, 6).join(' ').slice(0, 40));
  for (let i = 1; ; i++) {
    const name = i === 1 ? words : `${words}-${i}`;
    if (!taken.has(name)) return name;
  }
}
