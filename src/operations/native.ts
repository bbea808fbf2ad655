import { z } from 'zod';
import type { Sight } from '../bridge/sight.ts';
import { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { quote, Slug } from '../core/text.ts';
import { Timestamp } from '../core/time.ts';
import { PlayerPattern } from '../runtime/config.ts';
import { listAgents } from '../runtime/installed-agents.ts';
import { choosePlayers } from '../runtime/players.ts';
import { InTeam, Wait } from './inputs.ts';
import {
  JoinedTeam,
  LeftTeam,
  mailOf,
  NativeMessage,
  NativeSummary,
  summarize,
  viewJoined,
  viewLeftover,
} from './native-views.ts';
import { operation } from './operation.ts';

const Seat = z.strictObject({ teamId: Slug.describe('the team'), memberId: Slug.describe('the member') });

const Ticket = z.string().min(1).max(100).describe('tells the one in the pane from another of its name');

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
    .describe('hours without a change before it counts as dead; else 1'),
};
const HOUR = 3_600_000;

export const nativeOperations = [
  operation({
    name: 'native.list',
    summary: "List Claude Code's own teams, and the task lists of its sessions",
    scope: 'admin',
    input: z.strictObject({
      known: z.number().int().min(0).optional().describe('with wait: answer when lastEvent is another'),
      ...Wait,
    }),
    result: z.object({
      root: z.string(),
      lastEvent: z.number().int().describe('the number of the last event; grows with every change'),
      degraded: z.boolean().describe('not all can be watched: changes are found every few seconds'),
      teams: z.array(NativeSummary),
    }),
    route: 'GET /api/native',
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
    cli: { args: ['name'] },
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
    summary: "What happened in Claude Code's own teams since the daemon looks at them",
    scope: 'admin',
    input: z.strictObject({
      after: z.number().int().min(0).default(0).describe('only those after this number'),
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
    run: async ({ native, signal }, { after, wait = 0 }) => {
      const sight = native.sight();
      if (sight.count <= after && wait > 0) await somethingHappened(sight, wait, signal);
      return sight.events(after).map(({ number, at, event }) => ({ number, at: new Date(at), ...event }));
    },
  }),
  operation({
    name: 'native.leftovers',
    summary: "Which of Claude Code's own teams were left behind, and how one can tell",
    scope: 'admin',
    input: z.strictObject(Quiet),
    result: z.array(LeftTeam),
    route: 'GET /api/native/leftovers',
    run: async ({ native }, { quiet }) =>
      native.leftovers(quiet === undefined ? undefined : quiet * HOUR).map(viewLeftover),
  }),
  operation({
    name: 'native.clean',
    summary: 'Move what was left behind of native teams to the trash; one with life in it is refused',
    scope: 'admin',
    input: z.strictObject({
      names: z.array(z.string().min(1).max(200)).min(1).max(1_000).describe('the names of the teams'),
      ...Quiet,
    }),
    result: z.array(z.object({ name: z.string(), folder: z.string() })),
    route: 'POST /api/native/clean',
    cli: { args: ['names'] },
    run: async ({ native }, { names, quiet }) => native.clean(names, quiet === undefined ? undefined : quiet * HOUR),
  }),
  operation({
    name: 'native.join',
    summary: "Join one of Claude Code's own teams: tasks, mail and members are kept in step both ways",
    scope: 'admin',
    input: Named.extend({ as: Slug.optional().describe('the name of the team here; else that of the native one') }),
    result: JoinedTeam,
    route: 'POST /api/native/join',
    cli: { command: 'join', args: ['name'] },
    run: async ({ native }, { name, as }) => viewJoined(await native.join(name, { as })),
  }),
  operation({
    name: 'native.leave',
    summary: 'Part a team from the native one it joined; what is here stays',
    scope: 'admin',
    input: InTeam,
    result: JoinedTeam,
    route: 'POST /api/native/leave/:teamId',
    cli: { args: ['teamId'] },
    run: async ({ native }, { teamId }) => viewJoined(await native.leave(teamId)),
  }),
  operation({
    name: 'native.joined',
    summary: 'List the teams that are kept in step with native ones, and what was put back there',
    scope: 'admin',
    input: z.strictObject({}),
    result: z.array(JoinedTeam),
    route: 'GET /api/native/joined',
    run: async ({ native }) => native.joined().map(viewJoined),
  }),
  operation({
    name: 'native.players',
    summary:
      "Who plays Claude Code's teammates, by their names: the first that fits; all others are Claude Code itself",
    scope: 'admin',
    input: z.strictObject({
      agents: z
        .record(PlayerPattern, Slug)
        .default({})
        .describe('agents by names of teammates, before what config.yaml says'),
      cwd: z.string().max(4096).optional().describe('where they would work: refuses those that could not be run there'),
    }),
    result: z.array(
      z.object({
        pattern: z.string(),
        agent: AgentSpec,
        plan: z.boolean().optional().describe('it plans first, and its lead approves'),
        source: z.enum(['command line', 'config.yaml', 'name']),
      }),
    ),
    route: 'POST /api/native/players',
    run: async ({ daemon }, { agents, cwd }) => {
      const players = choosePlayers(agents, daemon.config?.() ?? {}, await listAgents(process.env, { quick: true }));
      const chosen = players.filter(({ source }) => source !== 'name');
      if (cwd !== undefined) daemon.requireAgents?.(chosen.map(({ agent }) => ({ spec: agent, cwd })));
      return players;
    },
  }),
  operation({
    name: 'native.sit',
    summary: "Sit down in one of Claude Code's own teams, in the pane that its lead opened: a daemon runs the agent",
    scope: 'admin',
    input: Named.extend({
      member: NativeName.describe('the name that its lead gave it'),
      agent: AgentSpec.describe('what plays it'),
      cwd: z.string().min(1).max(4096).describe('where it works'),
      plan: z.boolean().default(false).describe('it plans first, and its lead approves'),
      signs: z.boolean().default(false).describe('its lead signs what it writes'),
      root: z.string().min(1).max(4096).describe("Claude Code's own directory, as the one in the pane sees it"),
      ticket: Ticket,
    }),
    result: Seat,
    route: 'POST /api/native/seats',
    cli: { args: ['name', 'member'] },
    run: async ({ native, daemon }, { root, ...wish }) => {
      if (root !== native.root) {
        throw new TeamError(
          'conflict',
          `The daemon looks at ${native.root}, but Claude Code keeps its teams in ${root}: stop it, and let it start again where CLAUDE_CONFIG_DIR and HOME are the same`,
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
    summary: 'Hold on to a seat: answers when its member is gone; who lets go takes the member along',
    scope: 'admin',
    input: Seat.extend({ ticket: Ticket, ...Wait }),
    result: z.object({
      over: z.boolean(),
      reason: z.string().optional(),
      failed: z.boolean().optional().describe('it ended in a way that nobody asked for'),
    }),
    route: 'POST /api/native/seats/:teamId/:memberId/hold',
    cli: { args: ['memberId'] },
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
