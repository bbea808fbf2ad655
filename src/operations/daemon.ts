import { z } from 'zod';
import { DaemonStatus } from './daemon-status.ts';
import { operation } from './operation.ts';

export const daemonOperations = [
  operation({
    name: 'daemon.status',
    summary: 'Show the state and address of the daemon',
    scope: 'admin',
    input: z.strictObject({}),
    result: DaemonStatus,
    route: 'GET /api/status',
    cli: { command: 'status', examples: ['troupe status', 'troupe status --json'] },
    run: ({ daemon }) => daemon.status(),
  }),
  operation({
    name: 'daemon.stop',
    summary: 'Stop the daemon and the members that it runs',
    scope: 'admin',
    input: z.strictObject({
      keep: z.boolean().default(false).describe('leave the members running; the next daemon takes them over'),
    }),
    result: z.object({ stopping: z.literal(true) }),
    route: 'POST /api/stop',
    cli: { command: 'stop', examples: ['troupe stop'] },
    run: async ({ daemon }, { keep }) => {
      daemon.stop({ keep });
      return { stopping: true as const };
    },
  }),
  operation({
    name: 'ui.login',
    summary: 'Make an address that opens the dashboard once, within a minute',
    scope: 'admin',
    input: z.strictObject({}),
    result: z.object({ url: z.string() }),
    route: 'POST /api/ui/login',
    cli: { command: 'ui', examples: ['troupe ui'] },
    run: async ({ daemon }) => ({ url: await daemon.loginUrl() }),
  }),
  operation({
    name: 'token.rotate',
    summary: 'Revoke every credential given out so far',
    scope: 'admin',
    input: z.strictObject({}),
    result: z.object({ rotated: z.literal(true) }),
    route: 'POST /api/tokens/rotate',
    cli: { examples: ['troupe token rotate'] },
    run: async ({ daemon }) => {
      await daemon.rotateTokens();
      return { rotated: true as const };
    },
  }),
] as const;
