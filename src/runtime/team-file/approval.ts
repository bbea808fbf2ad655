import { findAgent } from '../../agents/catalog.ts';
import { catalogNameOf, isOwnAgent } from '../../core/agent-kinds.ts';
import type { AgentSpec } from '../../core/agent.ts';
import type { HookConfig } from '../../core/hook.ts';
import { commandLineOf, powersOf } from '../../core/powers.ts';
import type { Powers } from '../../core/powers.ts';
import { sandboxOf } from '../../core/sandbox.ts';
import type { Sandbox } from '../../core/sandbox.ts';
import type { TeamSetup } from '../../core/team-work.ts';
import { boxOf, digestFiles, hashAll, nameOfSetup } from '../hooks/approvals.ts';
import { filesNamed, filesOfCommand, filesOfSetup, isWithin } from '../hooks/hook-files.ts';
import type { TeamHooks } from '../hooks/team-hooks.ts';
import { choiceOf } from './agents.ts';
import { startedOf } from './fallbacks.ts';
import { describeNotify, NOTIFY, variablesOfNotify } from './notify.ts';
import type { FileNotify } from './notify.ts';
import { realPath } from './place.ts';
import type { TeamFile } from './schema.ts';

/** Something that a file runs as the user, or allows without a question, and that nobody approved as it is now. */
export interface Unapproved extends Powers {
  /** The type of a hook, `agent`, `setup`, or `notify`. */
  readonly type: HookConfig['type'] | 'agent' | 'setup' | 'notify';
  readonly hash: string;
  /** Where it runs. */
  readonly folder: string;
  /** The files that decide what it does. */
  readonly files: string[];
  /** Those among them that the agent reads by itself, and by which it may run programs; empty for a hook. */
  readonly obeys: string[];
  /** Other content of it was approved before. */
  readonly changed: boolean;
  /** The files that changed since, as far as that is known. */
  readonly changedFiles: string[];
  /** The members that it is for, and the names of agents that a lead may start; empty for a hook. */
  readonly members: string[];
  /** Whether it runs in a sandbox. */
  readonly sandbox: boolean;
}

/** What a file runs: hooks, its members' programs, the setup of their workspaces, and notices. One approval covers all. */
export interface FilePrograms {
  readonly notify?: FileNotify | undefined;
  readonly setup?: TeamSetup | undefined;
  readonly hooks: readonly HookConfig[];
  readonly agents: readonly FileProgram[];
}

/** What a file runs for members with the same settings. */
type FileProgram = Omit<Unapproved, 'changed' | 'changedFiles' | 'type'>;

/** What a file runs for its members: programs, arguments, variables, and what they may do without asking. */
export function programsOf(file: TeamFile, folder: string): FileProgram[] {
  const members = startedOf(file, folder).map(({ spec, cwd, entry }) => ({ name: entry.name ?? 'lead', spec, cwd }));
  const choice = Object.entries(choiceOf(file) ?? {}).map(([name, spec]) => ({ name, spec, cwd: folder }));
  const programs = new Map<string, FileProgram>();
  for (const { name, spec, cwd } of [...members, ...choice]) {
    const obeyed = filesNamed(findAgent(catalogNameOf(spec))?.obeys ?? [], [folder, cwd]);
    const powers = powersIn(folder, { spec, cwd, obeysFiles: obeyed.size > 0 });
    if (!powers) continue;
    const { command = [], args = [], kind, sandbox } = spec;
    const own = filesOfCommand([...command, ...args], { cwd, folder, isOwn: isOwnAgent(spec) });
    const ofServers = Object.values(spec.mcp ?? {}).flatMap((server) =>
      'url' in server ? [] : [...filesOfCommand(server.command, { cwd, folder, isOwn: true })],
    );
    const files = new Map([...own, ...ofServers, ...obeyed]);
    const { env, isFree, allow, servers } = powers;
    const what = ['agent', kind, command, args, env, isFree, allow, realPath(cwd), digestFiles(files)];
    // A team without servers keeps the approval that it has.
    const hash = hashAll([...what, ...(servers.length > 0 ? [servers] : []), ...boxOf(sandbox)]);
    const known = programs.get(hash);
    // A team of 32 members with one program is one question, and a further member none.
    if (known) {
      known.members.push(...(known.members.includes(name) ? [] : [name]));
      continue;
    }
    const named = { sandbox: isBoxed(sandbox), files: [...files.keys()], obeys: [...obeyed.keys()], members: [name] };
    programs.set(hash, { ...powers, hash, folder: cwd, ...named });
  }
  return [...programs.values()];
}

function isBoxed(sandbox: Sandbox | undefined): boolean {
  return sandboxOf(sandbox) !== undefined;
}

/** What a file runs, as far as it is not approved with its present content. */
export function findUnapproved(hooks: TeamHooks, file: FilePrograms): Unapproved[] {
  const { approvals } = hooks;
  const boxes = new Map(file.hooks.map(({ approved = '', sandbox }) => [approved, sandbox]));
  const gates = hooks.unapproved(file.hooks).map((hook) => ({
    ...hook,
    sandbox: isBoxed(boxes.get(hook.hash)),
    members: [],
    obeys: [],
    servers: [],
    isFree: false,
    allow: [],
  }));
  const agents = file.agents
    .filter(({ hash }) => !approvals.has(hash))
    .map((program) => ({
      ...program,
      type: 'agent' as const,
      changed: approvals.knew(nameOf(program), program.folder),
      changedFiles: approvals.changed(nameOf(program), program.folder, program.files),
    }));
  return [...agents, ...unapprovedSetup(hooks, file), ...gates, ...unapprovedNotify(hooks, file)];
}

function unapprovedSetup({ approvals }: TeamHooks, { setup }: FilePrograms): Unapproved[] {
  if (!setup || approvals.has(setup.approved)) return [];
  const { command, env = [], folder, approved: hash } = setup;
  const files = [...filesOfSetup(command, folder).keys()];
  const changed = approvals.knew(nameOfSetup(setup), folder);
  const changedFiles = approvals.changed(nameOfSetup(setup), folder, files);
  return [
    {
      type: 'setup',
      command,
      env,
      folder,
      hash,
      files,
      changed,
      changedFiles,
      sandbox: isBoxed(setup.sandbox),
      members: [],
      obeys: [],
      servers: [],
      isFree: false,
      allow: [],
    },
  ];
}

function unapprovedNotify({ approvals }: TeamHooks, { notify }: FilePrograms): Unapproved[] {
  if (!notify || approvals.has(notify.hash)) return [];
  const { settings, folder, hash, files } = notify;
  return [
    {
      type: NOTIFY,
      command: describeNotify(settings),
      env: variablesOfNotify(settings),
      folder,
      hash,
      files,
      changed: approvals.knew(NOTIFY, folder),
      changedFiles: approvals.changed(NOTIFY, folder, files),
      sandbox: false,
      members: [],
      obeys: [],
      servers: [],
      isFree: false,
      allow: [],
    },
  ];
}

/** Records a person's approval of everything in the file that `covers` selects by its hash. */
export function approvePrograms(hooks: TeamHooks, file: FilePrograms, covers: (hash: string) => boolean): void {
  hooks.approve(file.hooks.filter(({ approved }) => approved !== undefined && covers(approved)));
  const { setup, notify } = file;
  if (notify && covers(notify.hash)) hooks.approvals.add(notify.hash, NOTIFY, notify.folder, notify.files);
  if (setup && covers(setup.approved)) {
    const { approved, command, folder } = setup;
    hooks.approvals.add(approved, nameOfSetup(setup), folder, [...filesOfSetup(command, folder).keys()]);
  }
  for (const program of file.agents.filter(({ hash }) => covers(hash))) {
    hooks.approvals.add(program.hash, nameOf(program), program.folder, program.files);
  }
}

/** The name of an agent among the approvals. */
function nameOf({ members }: FileProgram): string {
  return `agent: ${members[0]}`;
}

/**
 * Even a plain agent needs an approval outside of the file's folder: it may edit there without asking. And if the
 * checkout has settings for it: Claude Code runs the hooks in them at its start, in every mode.
 */
function powersIn(
  folder: string,
  { spec, cwd, obeysFiles }: { spec: AgentSpec; cwd: string; obeysFiles: boolean },
): Powers | undefined {
  const powers = powersOf(spec);
  if (powers || (!obeysFiles && isWithin(realPath(folder), realPath(cwd)))) return powers;
  return { command: commandLineOf(spec), env: [], servers: [], isFree: false, allow: [] };
}

/** The members that may do everything without asking, and for which nothing is closed off. */
export function exposedIn(file: TeamFile, folder: string): string[] {
  const names = startedOf(file, folder)
    .filter(({ spec }) => spec.mode === 'full' && !sandboxOf(spec.sandbox))
    .map(({ entry }) => entry.name ?? 'lead');
  return [...new Set(names)];
}
