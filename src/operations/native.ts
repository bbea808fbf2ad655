import { z } from 'zod';
import type { Sight } from '../bridge/sight.ts';
import { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { Slug } from '../core/fields.ts';
import { quote } from '../core/text.ts';
import { Timestamp } from '../core/time.ts';
import { PlayerPattern } from '../runtime/config.ts';
import { listAgents } from '../runtime/installed-agents.ts';
import { choosePlayers } from '../runtime/players.ts';
import { InTeam, Wait } from './inputs.ts';
import {
  JoinedTeam,
  JoinPreview,
  LeftTeam,
  mailOf,
  NativeMessage,
  NativeSummary,
  summarize,
  viewJoined,
  viewLeftover,
  viewPreview,
} from './native-views.ts';
import { operation } from './operation.ts';

const Seat = z.strictObject({ teamId: Slug.describe('the team'), memberId: Slug.describe('the member') });

const Ticket = z.string().min(1).max(100).describe('distinguishes this pane from another with the same name');

/** The names that Claude Code lets its lead choose; its oldest version allows slightly more. */
const NativeName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._ -]{0,63}$/, 'cannot be the name of a native teammate');

const Named = z.strictObject({ name: z.string().min(1).max(200).describe('the name of the native team') });
const Quiet = {
  quiet: z
    .number()
    .int()
    .min(0)
    .max(8_760)
    .optional()
    .describe('hours without a change until it counts as dead (default: 1)'),
};
const HOUR = 3_600_000;

export const nativeOperations = [
  operation({
    name: 'native.list',
    summary: "List Claude Code's own teams, and the task lists of its sessions",
    scope: 'admin',
    input: z.strictObject({
      known: z.number().int().min(0).optional().describe('with wait: answer when lastEvent differs from this'),
      ...Wait,
    }),
    result: z.object({
      root: z.string(),
      lastEvent: z.number().int().describe('the number of the last event; grows with every change'),
      degraded: z.boolean().describe('whether some files cannot be watched; changes there are found every few seconds'),
      teams: z.array(NativeSummary),
    }),
    route: 'GET /api/native',
    cli: { examples: ['troupe native list', 'troupe native list --json'] },
    run: async ({ native, signal }, { known, wait = 0 }) => {
      const sight = native.sight();
      let teams = sight.list();
      if (known === sight.count && wait > 0) {
        await somethingHappened(sight, wait, signal);
        teams = sight.list();
      }
      return { root: native.root, lastEvent: sight.count, degraded: sight.degraded, teams: teams.map(summarize) };
    },
  }),
  operation({
    name: 'native.show',
    summary: "Show one of Claude Code's own teams with its messages",
    scope: 'admin',
    input: Named,
    result: NativeSummary.extend({ mail: z.array(NativeMessage) }),
    route: 'GET /api/native/teams/:name',
    cli: { args: ['name'], examples: ['troupe native show session-0fc79bc3'] },
    run: async ({ native }, { name }) => {
      const sight = native.sight();
      const team = sight.list().find((one) => one.name === name || one.title === name);
      if (!team) {
        throw new TeamError(
          'not_found',
          `There is no native team ${quote(name)} in ${native.root}: "troupe teams --native" lists them`,
        );
      }
      return { ...summarize(team), mail: mailOf(team) };
    },
  }),
  operation({
    name: 'native.events',
    summary: "List the events that the daemon saw in Claude Code's own teams",
    scope: 'admin',
    input: z.strictObject({
      after: z.number().int().min(0).default(0).describe('only events after this number'),
      ...Wait,
    }),
    result: z.array(
      z.object({
        number: z.number().int(),
        at: Timestamp,
        type: z.string(),
        team: z.string(),
        member: z.string().optional(),
        taskId: z.string().optional(),
        status: z.string().optional(),
        owner: z.string().optional(),
        from: z.string().optional(),
        to: z.string().optional(),
        text: z.string().optional(),
        active: z.boolean().optional(),
      }),
    ),
    route: 'GET /api/native/events',
    cli: { examples: ['troupe native events --after 12 --wait 1m'] },
    run: async ({ native, signal }, { after, wait = 0 }) => {
      const sight = native.sight();
      if (sight.count <= after && wait > 0) await somethingHappened(sight, wait, signal);
      return sight.events(after).map(({ number, at, event }) => ({ number, at: new Date(at), ...event }));
    },
  }),
  operation({
    name: 'native.leftovers',
    summary: "List leftovers of Claude Code's own teams, with the evidence",
    scope: 'admin',
    input: z.strictObject(Quiet),
    result: z.array(LeftTeam),
    route: 'GET /api/native/leftovers',
    cli: { examples: ['troupe native leftovers', 'troupe native leftovers --quiet 24'] },
    run: async ({ native }, { quiet }) =>
      native.leftovers(quiet === undefined ? undefined : quiet * HOUR).map(viewLeftover),
  }),
  operation({
    name: 'native.clean',
    summary: 'Move leftovers of native teams to the trash; live teams are refused',
    scope: 'admin',
    input: z.strictObject({
      names: z.array(z.string().min(1).max(200)).min(1).max(1_000).describe('the names of the teams'),
      ...Quiet,
    }),
    result: z.array(z.object({ name: z.string(), folder: z.string() })),
    route: 'POST /api/native/clean',
    cli: { args: ['names'], examples: ['troupe native clean proxy-analysis,old-team'] },
    run: async ({ native }, { names, quiet }) => native.clean(names, quiet === undefined ? undefined : quiet * HOUR),
  }),
  operation({
    name: 'native.preview',
    summary: "Show what joining one of Claude Code's own teams would change, here and in its files; changes nothing",
    scope: 'admin',
    input: Named.extend({ rename: Slug.optional().describe('the name of the team here (default: the native name)') }),
    result: JoinPreview,
    route: 'GET /api/native/teams/:name/preview',
    cli: {
      args: ['name'],
      examples: ['troupe native preview proxy-analysis', 'troupe native preview session-0fc79bc3 --rename parser'],
    },
    run: async ({ native }, { name, rename }) => viewPreview(await native.preview(name, { as: rename })),
  }),
  operation({
    name: 'native.join',
    summary: "Join one of Claude Code's own teams: synchronize tasks, messages and members both ways",
    scope: 'admin',
    input: Named.extend({ rename: Slug.optional().describe('the name of the team here (default: the native name)') }),
    result: JoinedTeam,
    route: 'POST /api/native/join',
    cli: {
      command: 'join',
      args: ['name'],
      examples: ['troupe join proxy-analysis', 'troupe join session-0fc79bc3 --rename parser'],
    },
    run: async ({ native }, { name, rename }) => viewJoined(await native.join(name, { as: rename })),
  }),
  operation({
    name: 'native.leave',
    summary: 'Leave a native team; the team here stays',
    scope: 'admin',
    input: InTeam,
    result: JoinedTeam,
    route: 'POST /api/native/leave/:teamId',
    cli: { args: ['teamId'], examples: ['troupe native leave proxy-analysis'] },
    run: async ({ native }, { teamId }) => viewJoined(await native.leave(teamId)),
  }),
  operation({
    name: 'native.joined',
    summary: 'List the teams that joined native teams, with their notices',
    scope: 'admin',
    input: z.strictObject({}),
    result: z.array(JoinedTeam),
    route: 'GET /api/native/joined',
    cli: { examples: ['troupe native joined'] },
    run: async ({ native }) => native.joined().map(viewJoined),
  }),
  operation({
    name: 'native.players',
    summary: "Show which agents play Claude Code's teammates, by name; Claude Code plays the rest",
    scope: 'admin',
    input: z.strictObject({
      agents: z
        .record(PlayerPattern, Slug)
        .default({})
        .describe('agents by teammate name; these come before config.yaml'),
      cwd: z.string().max(4096).optional().describe('where they would work; agents that cannot run there are refused'),
    }),
    result: z.array(
      z.object({
        pattern: z.string(),
        agent: AgentSpec,
        plan: z.boolean().optional().describe('its lead must approve a plan first'),
        source: z.enum(['command line', 'config.yaml', 'name']),
      }),
    ),
    route: 'POST /api/native/players',
    cli: { examples: ['troupe native players'] },
    run: async ({ daemon }, { agents, cwd }) => {
      const players = choosePlayers(agents, daemon.config?.() ?? {}, await listAgents(process.env, { quick: true }));
      const chosen = players.filter(({ source }) => source !== 'name');
      if (cwd !== undefined) daemon.requireAgents?.(chosen.map(({ agent }) => ({ spec: agent, cwd })));
      return players;
    },
  }),
  operation({
    name: 'native.sit',
    summary: "Take a seat in one of Claude Code's own teams, in the pane that its lead opened; a daemon runs the agent",
    scope: 'admin',
    input: Named.extend({
      member: NativeName.describe('the name that its lead gave it'),
      agent: AgentSpec.describe('the agent that plays it'),
      cwd: z.string().min(1).max(4096).describe('where it works'),
      plan: z.boolean().default(false).describe('its lead must approve a plan first'),
      signs: z.boolean().default(false).describe('whether the lead signs its messages'),
      root: z.string().min(1).max(4096).describe("Claude Code's own directory, as the program in the pane sees it"),
      ticket: Ticket,
    }),
    result: Seat,
    route: 'POST /api/native/seats',
    cli: {
      args: ['name', 'member'],
      examples: [
        `troupe native sit session-0fc79bc3 codex --agent '{"kind":"codex"}' --cwd "$PWD" --root "$HOME/.claude" --ticket 1`,
      ],
    },
    run: async ({ native, daemon }, { root, ...wish }) => {
      if (root !== native.root) {
        throw new TeamError(
          'conflict',
          `The daemon reads ${native.root}, but Claude Code keeps its teams in ${root}: run troupe stop, then start it with the same CLAUDE_CONFIG_DIR and HOME`,
        );
      }
      return native.seats.sit({
        ...wish,
        check: () => daemon.requireAgents?.([{ spec: wish.agent, cwd: wish.cwd }]),
      });
    },
  }),
  operation({
    name: 'native.hold',
    summary: 'Hold a seat: answers when its member has ended; ending the call ends the member',
    scope: 'admin',
    input: Seat.extend({ ticket: Ticket, ...Wait }),
    result: z.object({
      over: z.boolean(),
      reason: z.string().optional(),
      failed: z.boolean().optional().describe('it ended unexpectedly'),
    }),
    route: 'POST /api/native/seats/:teamId/:memberId/hold',
    cli: { args: ['memberId'], examples: ['troupe native hold codex --team session-0fc79bc3 --ticket 1 --wait 1m'] },
    run: async ({ native, signal }, { wait = 0, ...seat }) => native.seats.hold(seat, { wait, signal }),
  }),
] as const;

/** Resolves with the next event, when the time is up, or when the caller is gone. */
function somethingHappened(sight: Sight, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stop = sight.subscribe(done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
