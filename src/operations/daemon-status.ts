import { z } from 'zod';

/** The state of the daemon, and what it has done. */
export const DaemonStatus = z.object({
  version: z.string(),
  pid: z.number().int(),
  home: z.string().describe('the state directory'),
  socket: z.string(),
  url: z.string().nullable().describe('the address of the dashboard, WebSocket, REST and MCP'),
  tokenFile: z.string(),
  journal: z.object({
    kind: z.string(),
    location: z.string(),
    durability: z.enum(['fsync-before-ack', 'replicated', 'lazy', 'memory']),
    advice: z.string().optional().describe('how to make storage safer'),
  }),
  name: z.string().optional().describe('its name among the daemons that share the journal'),
  hosts: z
    .array(
      z.object({
        name: z.string(),
        labels: z.array(z.string()),
        agents: z.array(z.string()).describe('the agents it can run, besides programs'),
        load: z.number().int().describe('members that it runs'),
      }),
    )
    .optional()
    .describe('the daemons that share the journal'),
  startedAt: z.string(),
  uptime: z.number().describe('seconds'),
  memory: z.number().describe('bytes of resident memory'),
  connections: z.number().int(),
  health: z.object({
    status: z.enum(['ok', 'degraded']),
    problems: z.array(z.string()).describe('what does not work now; everything else does'),
  }),
  activeTeams: z.number().int(),
  teamMetrics: z.object({
    totalTeamsCreated: z.number().int(),
    totalTeammatesSpawned: z.number().int(),
    totalTeamTasksCompleted: z.number().int(),
    totalTeamMessages: z.number().int(),
  }),
  counting: z.boolean().describe('whether teams from before the start are still being counted'),
});
export type DaemonStatus = z.output<typeof DaemonStatus>;
