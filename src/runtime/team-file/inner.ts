import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import type { InnerTeam } from '../../core/inner.ts';
import { DEFAULT_DEPTH, INNER_FILES, TEAM_FILE_BYTES } from '../../core/limits.ts';
import { quote } from '../../core/text.ts';
import { isWithin } from '../hooks/hook-files.ts';
import { placeIn, problemsOf } from '../yaml-file.ts';
import type { Path } from '../yaml-problems.ts';
import { folderIn } from './file-agents.ts';
import { parseTeamFile } from './parse.ts';
import { realPath } from './place.ts';
import type { AgentRef, TeamFile } from './schema.ts';

/** A team file, and the folder that its paths are relative to: that of the member which it is for. */
export interface FilePart {
  readonly file: TeamFile;
  readonly source: string;
  /** Its name, for errors. */
  readonly name: string;
  readonly folder: string;
  /** The folder of the file itself: other team files are named relative to it. */
  readonly home: string;
  /** The members of the teams around it, outermost first; empty for the file itself. */
  readonly within: readonly string[];
}

/** A file with the texts of all teams that it names, and each of these teams. */
export interface WholeFile {
  readonly file: TeamFile;
  /** The file itself first. */
  readonly parts: readonly FilePart[];
}

/** A place in a file that names another team file. */
interface Naming {
  readonly path: Path;
  /** The member or agent that is the team. */
  readonly who: string;
  /** Where it works, relative to the folder of the file. */
  readonly cwd: string | undefined;
  readonly to: string;
}

/** Settings that belong into the file of the team, not beside its name. */
const OF_MEMBERS = [
  'model',
  'mode',
  'permissions',
  'silence',
  'effort',
  'mcp',
  'skills',
  'tools',
  'sandbox',
  'prompt',
  'command',
  'account',
  'args',
  'env',
  'plan',
  'onLimit',
] as const;

/**
 * Parses a team file and reads all teams that it names. Their texts become part of it, so that nothing that changes on
 * the disk later changes what runs. Refuses cycles, too many levels and files elsewhere, with their places.
 */
export function readTeamFile(source: string, name: string, folder: string): WholeFile {
  const file = parseTeamFile(source, name);
  const top = realPath(folder);
  const limit = file.limits?.depth ?? DEFAULT_DEPTH;
  const texts = new Map<string, string>();
  const parts: FilePart[] = [];
  const own = resolve(folder, name.split('/').at(-1) ?? name);

  const visit = (part: FilePart, above: readonly string[]): void => {
    const problems: string[] = [];
    const refuse = (path: Path, text: string): undefined => {
      problems.push(`${placeIn(part.source, part.name, path)}: ${text}`);
      return undefined;
    };
    for (const { path, text } of misplaced(part.file)) refuse(path, text);
    const found = namings(part.file).map(({ path, who, cwd, to }) => {
      const target = resolve(part.home, to);
      const seen = isWithin(folder, target) ? look(to, target, top) : { why: leadsOut(to, top) };
      if ('why' in seen) return refuse(path, seen.why);
      if (above.includes(seen.real)) {
        const ring = [...above.slice(above.indexOf(seen.real)), seen.real].map((one) => relative(top, one));
        return refuse(path, `these teams would run each other: ${ring.join(' › ')}`);
      }
      if (above.length > limit) {
        const raise = part.within.length === 0 ? 'limits.depth' : `limits.depth of ${name}`;
        return refuse(path, `teams may be ${limit} deep here, and this is one more: raise ${raise}, or flatten it`);
      }
      texts.set(target, seen.text);
      if (texts.size > INNER_FILES) return refuse(path, `a team may have ${INNER_FILES} teams inside it at most`);
      return { who, folder: folderIn(part.folder, { cwd }), target, real: seen.real, text: seen.text };
    });
    if (problems.length > 0) throw problemsOf(problems, part.name);
    parts.push(part);
    for (const one of found) {
      if (!one) continue;
      const innerName = relative(top, one.real);
      const inner = inheritSandbox(parseTeamFile(one.text, innerName), part.file);
      requireInner(inner, { source: one.text, name: innerName });
      const within = [...part.within, one.who];
      const { text, folder, target } = one;
      visit({ file: inner, source: text, name: innerName, folder, home: dirname(target), within }, [
        ...above,
        one.real,
      ]);
    }
  };

  visit({ file, source, name, folder, home: folder, within: [] }, [realPath(own)]);
  const files = Object.fromEntries(texts);
  const filled = parts.map((part) => ({ ...part, file: fillIn(part, files) }));
  return { file: (filled[0] as FilePart).file, parts: filled };
}

/** The file of a team inside a member, from the texts that were read when its team was brought up. */
export function innerFileOf({ path, folder, files, sandbox }: InnerTeam): FilePart {
  const source = files[path];
  if (source === undefined) throw new TeamError('corrupt', `The member has no text of its team file ${quote(path)}`);
  const part = {
    file: inheritSandbox(parseTeamFile(source, path), { sandbox }),
    source,
    name: path,
    folder,
    home: dirname(path),
    within: [],
  };
  return { ...part, file: fillIn(part, files) };
}

/** A sandbox for all members holds for the teams inside as well, unless their files say something else. */
function inheritSandbox(file: TeamFile, { sandbox }: Pick<TeamFile, 'sandbox'>): TeamFile {
  return sandbox === undefined ? file : { ...file, sandbox: file.sandbox ?? sandbox };
}

/** A file in which every name of a team file is that team. */
function fillIn({ file, folder, home }: FilePart, files: Readonly<Record<string, string>>): TeamFile {
  const { sandbox } = file;
  const fill = <T extends AgentRef | undefined>(agent: T, cwd?: string): T =>
    typeof agent === 'object' && 'team' in agent && typeof agent.team === 'string'
      ? ({
          team: {
            path: resolve(home, agent.team),
            folder: folderIn(folder, { cwd }),
            files,
            ...(sandbox !== undefined && { sandbox }),
          },
        } as unknown as T)
      : agent;
  const { agents, members } = file;
  return {
    ...file,
    members: members.map((member) => ({ ...member, agent: fill(member.agent, member.cwd) })),
    ...(agents && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, entry]) => [
          name,
          entry.agent === undefined ? entry : { ...entry, agent: fill(entry.agent) },
        ]),
      ),
    }),
  };
}

/** Every place that names a team file. */
function namings({ members, agents = {} }: TeamFile): Naming[] {
  const entries = [
    ...members.map(({ name, agent, cwd }, at) => ({
      who: name,
      agent,
      cwd,
      path: ['members', at, 'agent', 'team'] as Path,
    })),
    ...Object.entries(agents).map(([name, { agent }]) => ({
      who: name,
      agent,
      cwd: undefined,
      path: ['agents', name, 'agent', 'team'],
    })),
  ];
  return entries.flatMap(({ who, agent, cwd, path }) =>
    typeof agent === 'object' && 'team' in agent && typeof agent.team === 'string'
      ? [{ who, cwd, path, to: agent.team }]
      : [],
  );
}

/** What cannot be said beside the name of a team. */
function misplaced({ lead, members, agents = {} }: TeamFile): { path: Path; text: string }[] {
  const entries = [
    ...members.map((entry, at) => ({ entry, path: ['members', at] as Path })),
    ...Object.entries(agents).map(([name, entry]) => ({ entry, path: ['agents', name] as Path })),
  ];
  const found = entries.flatMap(({ entry, path }) => {
    if (!isTeam(entry.agent)) return [];
    const set = OF_MEMBERS.filter((key) => (entry as Readonly<Record<string, unknown>>)[key] !== undefined);
    return set.map((key) => ({
      path: [...path, key],
      text: `${key} belongs to the members of that team: set it in its file`,
    }));
  });
  if (typeof lead !== 'object' || !isTeam(lead.agent)) return found;
  return [
    ...found,
    { path: ['lead', 'agent', 'team'], text: 'a team cannot lead: let an agent lead, and make the team a member' },
  ];
}

function isTeam(agent: AgentRef | undefined): boolean {
  return typeof agent === 'object' && 'team' in agent;
}

/** The text of a file that another names, or why it cannot be used. */
function look(to: string, target: string, top: string): { real: string; text: string } | { why: string } {
  if (isAbsolute(to)) return { why: leadsOut(to, top) };
  try {
    const real = realpathSync(target);
    if (!isWithin(top, real)) return { why: leadsOut(to, top) };
    const { size } = requireFile(real);
    if (size > TEAM_FILE_BYTES) return { why: `${quote(to)} is larger than ${TEAM_FILE_BYTES} bytes` };
    return { real, text: readFileSync(real, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { why: `there is no team file ${quote(to)}` };
    return { why: `${quote(to)} cannot be read: ${code ?? (error as Error).message}` };
  }
}

function leadsOut(to: string, top: string): string {
  return isAbsolute(to)
    ? 'name the team file relative to the folder of this file'
    : `${quote(to)} leads out of ${top}: a team inside this one must be below it`;
}

/** Reading a pipe would block. */
function requireFile(path: string): { size: number } {
  const found = statSync(path);
  if (!found.isFile()) throw new Error('it is no file');
  return found;
}

/** What only makes sense for a team that begins from a person's checkout. */
function requireInner({ lead, work }: TeamFile, { source, name }: { source: string; name: string }): void {
  const problems: string[] = [];
  const refuse = (path: Path, text: string): void => void problems.push(`${placeIn(source, name, path)}: ${text}`);
  if (typeof lead !== 'object') {
    refuse(
      lead === undefined ? ['team'] : ['lead'],
      'a team inside a member needs an agent that leads: it gets the task and answers',
    );
  }
  for (const key of ['workspaces', 'base', 'into', 'remote'] as const) {
    if (work?.[key] === undefined) continue;
    refuse(
      ['work', key],
      'a team inside a member works as that member does: it begins from its files, and its work goes back there',
    );
  }
  if (problems.length > 0) throw problemsOf(problems, name);
}
