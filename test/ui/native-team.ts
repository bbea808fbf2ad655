import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const TASKS: readonly (readonly [
  subject: string,
  status: string,
  owner?: string | undefined,
  blockedBy?: readonly string[],
])[] = [
  ['Find where sessions are kept', 'completed', 'scout'],
  ['List what else reads the cookie', 'completed', 'scout'],
  ['Write the failing test', 'in_progress', 'tester'],
  ['Fix the lifetime', 'pending', undefined, ['3']],
  ['Update the notes for operators', 'pending'],
];

/** One of Claude Code's own teams, in files as Claude Code writes them. */
export function writeNativeTeam(root: string, name = 'session-bugs'): void {
  const write = (path: string, value: unknown): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(value, null, 2));
  };
  const member = (memberName: string, more: object) => ({
    agentId: `${memberName}@${name}`,
    name: memberName,
    joinedAt: Date.now(),
    tmuxPaneId: '',
    cwd: root,
    subscriptions: [],
    ...more,
  });
  write(`teams/${name}/config.json`, {
    name,
    description: 'Sessions end while people still work.',
    createdAt: Date.now(),
    leadAgentId: `team-lead@${name}`,
    leadSessionId: '5e9a1c30-0000-4000-8000-000000000001',
    members: [
      member('team-lead', { agentType: 'team-lead', backendType: 'in-process' }),
      member('scout', { agentType: 'general-purpose', model: 'haiku', color: 'blue', isActive: false }),
      member('tester', { agentType: 'general-purpose', model: 'sonnet', color: 'green', isActive: true }),
    ],
  });
  TASKS.forEach(([subject, status, owner, blockedBy = []], i) => {
    write(`tasks/${name}/${i + 1}.json`, {
      id: String(i + 1),
      subject,
      description: subject,
      status,
      ...(owner !== undefined && { owner }),
      blocks: [],
      blockedBy,
    });
  });
  write(`teams/${name}/inboxes/team-lead.json`, [
    {
      from: 'scout',
      text: 'The lifetime is set in **two** places: `session.ts` and the proxy.',
      timestamp: new Date(Date.now() - 120_000).toISOString(),
      read: true,
    },
    {
      from: 'tester',
      text: 'The test fails after 15 minutes of *waiting*, as it should.',
      timestamp: new Date(Date.now() - 40_000).toISOString(),
      read: false,
    },
  ]);
}
