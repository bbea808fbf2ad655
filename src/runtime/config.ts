import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Labels, Slug } from '../core/fields.ts';
import { NotifySettings } from './notices/settings.ts';
import { AgentEntry, AgentRef } from './team-file/schema.ts';
import { parseYamlFile } from './yaml-file.ts';

/**
 * A native teammate's name, or its beginning and a star. Nothing else is allowed, since it goes into a shell pattern.
 */
export const PlayerPattern = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*\*?$/, 'is not the name of a teammate, or the beginning of one and *');

/** An agent with its settings. */
const SetUp = AgentEntry.extend({ agent: AgentRef });

/** An agent in any form that a team file accepts, or with its settings. */
const AgentChoice = z.union([...AgentRef.options, SetUp]);

/** The same in one form. */
export function entryOf(choice: z.output<typeof AgentChoice>): z.output<typeof SetUp> {
  return typeof choice === 'object' && 'agent' in choice ? choice : { agent: choice };
}

/** A person's settings for the daemon of a state directory; flags and variables override them. */
export const DaemonConfig = z.strictObject({
  name: Slug.optional().describe('its name among the daemons that share the journal'),
  labels: Labels.optional().describe('labels that members can ask for, such as gpu'),
  agent: AgentChoice.optional().describe(
    'the default agent of teammates, if neither the command nor the team names one',
  ),
  teammates: z
    .record(PlayerPattern, z.union([...AgentRef.options, SetUp.extend({ plan: z.enum(['required']).optional() })]))
    .optional()
    .describe("which agents play Claude Code's own teammates, by name; a name may end with *: codex-*"),
  projects: z
    .array(z.string().min(1).refine(isAbsolute, 'must be absolute'))
    .max(256)
    .optional()
    .describe('checkouts on this machine, for workspaces of teams that other machines bring up'),
  notify: NotifySettings.optional().describe('how you hear of what needs you; read when the daemon starts'),
  journal: z.string().optional().describe('where teams are kept: sqlite:PATH, nats://host:port'),
});
export type DaemonConfig = z.output<typeof DaemonConfig>;

/** The file in the state directory. */
export const CONFIG_FILE = 'config.yaml';

/** Reads `config.yaml` of a state directory; without the file, nothing is set. */
export function readConfig(directory: string): DaemonConfig {
  const file = join(directory, CONFIG_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new TeamError('invalid', `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  // A file with only comments sets nothing.
  return parseYamlFile(DaemonConfig.nullable(), text, { name: file }) ?? {};
}
