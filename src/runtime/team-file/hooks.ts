import { isDeepStrictEqual } from 'node:util';
import { USER } from '../../core/actor.ts';
import { HookType } from '../../core/hook.ts';
import type { HookConfig } from '../../core/hook.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { hashHook } from '../hooks/approvals.ts';
import type { Path } from '../yaml-problems.ts';
import type { TeamFile } from './schema.ts';
import { milliseconds } from './values.ts';

/** The hooks of a file for registration: run in the file's folder, bound to their present content. */
export function hooksOf(file: TeamFile, folder: string): HookConfig[] {
  return Object.entries(file.hooks ?? {}).flatMap(([type, entries]) =>
    [entries].flat().map(({ executor = 'shell', ...entry }) => ({
      type: type as HookConfig['type'],
      command: entry.command,
      executor,
      cwd: folder,
      timeout: entry.timeout === undefined ? 120_000 : milliseconds(entry.timeout),
      enabled: true,
      onFailure: entry.onFailure ?? 'allow',
      ...(entry.env && { env: entry.env }),
      ...(entry.flaky && { flaky: true }),
      ...(entry.sandbox && { sandbox: entry.sandbox }),
      approved: hashHook({ ...entry, executor }, folder),
    })),
  );
}

/** The position of a hook's command in a file. */
export function pathOfHook(file: TeamFile, { type, command }: Pick<HookConfig, 'type' | 'command'>): Path {
  const entries = file.hooks?.[type];
  const at = Array.isArray(entries) ? [entries.findIndex((entry) => entry.command === command)] : [];
  return ['hooks', type, ...at, 'command'];
}

/** The hooks of a team after its file is applied: registered ones stay, those of its folders are as the file says. */
export function hooksAfter(
  before: readonly HookConfig[],
  wanted: readonly HookConfig[],
  folders: readonly string[],
): HookConfig[] {
  const others = before.filter(({ approved, cwd }) => approved === undefined || !folders.includes(cwd ?? ''));
  return [...others, ...wanted];
}

/** The commands that change a team's hooks to that. Only a type whose hooks differ is registered again. */
export function hookCommands(
  before: readonly HookConfig[],
  wanted: readonly HookConfig[],
  folders: readonly string[],
): NewCommand[] {
  const after = hooksAfter(before, wanted, folders);
  return HookType.options.flatMap((hookType): NewCommand[] => {
    const [had, has] = [before, after].map((hooks) => hooks.filter(({ type }) => type === hookType)) as [
      HookConfig[],
      HookConfig[],
    ];
    if (isDeepStrictEqual(had, has)) return [];
    const registers = has.map((hook): NewCommand => ({ type: 'hook.register', by: USER, hook }));
    return had.length > 0 ? [{ type: 'hook.remove', by: USER, hookType }, ...registers] : registers;
  });
}
