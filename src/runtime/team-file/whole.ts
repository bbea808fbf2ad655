import { describeBroken } from '../hooks/obstacle.ts';
import type { TeamHooks } from '../hooks/team-hooks.ts';
import { placeIn } from '../yaml-file.ts';
import { programsOf } from './approval.ts';
import type { FilePrograms } from './approval.ts';
import { hooksOf, pathOfHook } from './hooks.ts';
import type { FilePart } from './inner.ts';
import { notifyOf } from './notify.ts';
import type { TeamFile } from './schema.ts';
import { brokenSetup, setupOf } from './setup.ts';

/** What a file and the teams inside it run, one after the other. One question covers all of it, at the start. */
export function programsIn(parts: readonly FilePart[]): FilePrograms[] {
  return parts.map(({ file, folder, within }) => ({
    hooks: hooksOf(file, folder),
    agents: programsOf(file, folder).map((program) => ({
      ...program,
      members: program.members.map((name) => [...within, name].join(' › ')),
    })),
    setup: setupOf(file, folder),
    notify: notifyOf(file, folder),
  }));
}

/** All of it as one, for what the commit of a new team must have. */
export function mergePrograms([first, ...others]: readonly FilePrograms[]): FilePrograms | undefined {
  if (!first) return undefined;
  return {
    ...first,
    hooks: [first, ...others].flatMap(({ hooks }) => hooks),
    agents: [first, ...others].flatMap(({ agents }) => agents),
  };
}

/** Hooks and setups whose program is missing or not executable. */
export function brokenIn(hooks: TeamHooks, programs: readonly FilePrograms[]) {
  return programs.flatMap((one) => [...hooks.broken(one.hooks), ...brokenSetup(one.setup)]);
}

/** The first of these, with its place; undefined if there is none. */
export function describeBrokenIn(
  hooks: TeamHooks,
  parts: readonly FilePart[],
  programs: readonly FilePrograms[],
): string | undefined {
  for (const [at, { file, source, name }] of parts.entries()) {
    const [broken] = brokenIn(hooks, programs.slice(at, at + 1));
    if (!broken) continue;
    const path = broken.type === 'setup' ? ['work', 'setup'] : pathOfHook(file, { ...broken, type: broken.type });
    return `${placeIn(source, name, path)}: ${describeBroken(broken)}`;
  }
  return undefined;
}

/** The files of a whole. */
export function filesIn(parts: readonly FilePart[]): TeamFile[] {
  return parts.map(({ file }) => file);
}
