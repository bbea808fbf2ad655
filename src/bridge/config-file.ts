import { TeamError } from '../core/errors.ts';
import { NativeConfig } from './format.ts';
import { readNow, readSettled, replaceFile } from './json-file.ts';
import type { FileReading } from './json-file.ts';
import type { NativePaths } from './layout.ts';
import { underLock } from './lock.ts';
import type { LockOptions } from './lock.ts';
import { nativeGone } from './remains.ts';
import { checkFolderOf } from './root.ts';

/** A team's `config.json`. `unknown` is JSON of a form that we don't know: we show it and never write it. */
export type ConfigReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'read'; readonly config: NativeConfig }
  | { readonly kind: 'unknown' | 'unreadable'; readonly problem: string };

/** Parses a reading of `config.json`. */
export function configOf(reading: FileReading): ConfigReading {
  if (reading.kind === 'absent') return reading;
  if (reading.kind === 'unreadable') return { kind: 'unreadable', problem: reading.problem };
  const parsed = NativeConfig.safeParse(reading.value);
  // The value itself, not the parsed copy: it keeps the order of keys for writing back.
  if (parsed.success) return { kind: 'read', config: reading.value as NativeConfig };
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join('.') || 'the file';
  return { kind: 'unknown', problem: `has an unknown form: ${where}: ${issue?.message ?? 'unknown'}` };
}

/** Reads a team's file and waits for a write in progress to finish. */
export async function readConfig(paths: NativePaths): Promise<ConfigReading> {
  return configOf(await readSettled(paths.config));
}

/** Whether Claude Code can share this file. Its oldest version talks to itself forever if the lead has no id. */
export function isWhole(config: NativeConfig): boolean {
  return config.leadAgentId !== undefined && config.members.every((member) => member.agentId !== undefined);
}

/**
 * Whether the file has the simplified form: `teamName` and bare members. Other tools write it, and no version of Claude
 * Code does. What its oldest version does without ids, it does with or without us.
 */
export function isSimple(config: NativeConfig): boolean {
  return config.name === undefined && config.teamName !== undefined;
}

/**
 * Changes a team's file under its lock. If `edit` returns undefined, the file stays. Returns whether it was written.
 */
export async function changeConfig(
  paths: NativePaths,
  edit: (config: NativeConfig) => NativeConfig | undefined,
  options?: LockOptions,
): Promise<boolean> {
  checkFolderOf(paths.config);
  await readSettled(paths.config, options?.settle);
  return underLock(
    paths.config,
    () => {
      const reading = readNow(paths.config);
      const found = configOf(reading);
      if (found.kind === 'absent') {
        throw nativeGone(paths);
      }
      if (found.kind !== 'read') {
        throw new TeamError('corrupt', `${paths.config} ${found.problem}: Troupe does not change it`);
      }
      const next = edit(found.config);
      if (next === undefined) return false;
      replaceFile(paths.config, next, reading.kind === 'read' ? reading.mode : 0o644);
      return true;
    },
    options,
  );
}
