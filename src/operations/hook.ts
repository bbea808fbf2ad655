import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { HookConfig, HookType } from '../core/hook.ts';
import { describeBroken } from '../runtime/hooks/obstacle.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

export const hookOperations = [
  operation({
    name: 'hook.register',
    summary: 'Register a hook: a program that judges completions, idle teammates or new tasks',
    scope: 'admin',
    input: HookConfig.extend(InTeam.shape),
    result: z.array(HookConfig),
    route: 'POST /api/teams/:teamId/hooks',
    cli: {
      args: ['type', 'command'],
      examples: ['troupe hook register TaskCompleted "npm test" --team demo --on-failure block'],
    },
    run: async ({ hooks, once }, { teamId, ...config }) => {
      // The program of a disabled hook may be written later.
      const [broken] = config.enabled ? hooks.broken([config]) : [];
      if (broken) throw new TeamError('invalid', `Not registered: ${describeBroken(broken)}`);
      await hooks.registerHook(teamId, config, once);
      return hooks.getRegisteredHooks(teamId);
    },
  }),
  operation({
    name: 'hook.list',
    summary: 'List the hooks of a team',
    scope: 'reader',
    input: InTeam,
    result: z.array(HookConfig),
    route: 'GET /api/teams/:teamId/hooks',
    cli: { examples: ['troupe hook list --team demo'] },
    run: ({ hooks }, { teamId }) => hooks.getRegisteredHooks(teamId),
  }),
  operation({
    name: 'hook.remove',
    summary: 'Remove the hooks of a type',
    scope: 'admin',
    input: InTeam.extend({ type: HookType.describe('which hooks') }),
    result: z.object({ removed: z.boolean() }),
    route: 'DELETE /api/teams/:teamId/hooks/:type',
    cli: { args: ['type'], examples: ['troupe hook remove TaskCompleted --team demo'] },
    run: async ({ hooks }, { teamId, type }) => ({ removed: await hooks.removeHook(teamId, type) }),
  }),
] as const;
