import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { findInVariable } from '../core/secret.ts';
import { pickVariables, replaceVariables } from '../core/variables.ts';
import type { Variables } from '../core/variables.ts';
import { replacePrivateFile } from './private-file.ts';

/** The environment of the command that brought a team up. */
const TeamEnvironment = z.object({
  /** What it replaces in the daemon's environment: names, or beginnings such as `LC_*`. */
  patterns: z.array(z.string()),
  values: z.record(z.string(), z.string()),
});
export type TeamEnvironment = z.output<typeof TeamEnvironment>;

/** The environments of teams. Members and gates get them instead of that of whoever started the daemon. */
export interface TeamEnvironments {
  /** The environment of a team; the daemon's, if no command gave another. */
  of(teamId: string): Variables;
  /** What a command gave; undefined if none did. */
  given(teamId: string): TeamEnvironment | undefined;
  /** The daemon's environment with what a command gives. */
  with(environment: TeamEnvironment | undefined): Variables;
  /** The secrets that a command gave to an earlier daemon: this one has only its own values of them. */
  lost(): ReadonlyMap<string, readonly string[]>;
  /** Calls when the environment of a team was given again, or is gone. */
  onSet(told: (teamId: string) => void): void;
  /** Keeps what a command gives, or forgets it. */
  set(teamId: string, environment: TeamEnvironment | undefined): void;
}

/** What keeping environments needs. */
export interface TeamEnvironmentsOptions {
  /** The file for the next daemon. */
  readonly path: string;
  readonly environment: Variables;
  /** Gets each secret, so that no log shows it. */
  readonly hide: (secret: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps environments in memory, and for the next daemon in a private file. Secrets are never written: after a restart
 * they come from the daemon's own environment until the next `troupe up`.
 */
export function openTeamEnvironments({ path, environment, hide, onError }: TeamEnvironmentsOptions): TeamEnvironments {
  const { teams, lost } = readAll(path, environment);
  let told: (teamId: string) => void = () => {};

  function apply(given: TeamEnvironment | undefined): Variables {
    return given ? replaceVariables(environment, given.patterns, given.values) : environment;
  }

  return {
    of: (teamId) => apply(teams.get(teamId)),
    given: (teamId) => teams.get(teamId),
    with: apply,
    lost: () => lost,
    onSet: (tell) => void (told = tell),
    set(teamId, given) {
      if (!given && !teams.has(teamId)) return;
      if (given) teams.set(teamId, given);
      else teams.delete(teamId);
      lost.delete(teamId);
      told(teamId);
      for (const [name, value] of Object.entries(given?.values ?? {})) if (isSecret(name, value)) hide(value);
      const stored = [...teams].map(([team, { patterns, values }]) => {
        const secrets = Object.keys(values).filter((name) => isSecret(name, values[name] ?? ''));
        const open = Object.entries(values).filter(([name]) => !secrets.includes(name));
        return [team, { patterns, values: Object.fromEntries(open), secrets }];
      });
      try {
        replacePrivateFile(path, `${JSON.stringify(Object.fromEntries(stored))}\n`);
      } catch (error) {
        // The teams of this daemon have it; only a later one would not.
        onError(error);
      }
    },
  };
}

const Stored = z.record(z.string(), TeamEnvironment.extend({ secrets: z.array(z.string()) }));

/** An unreadable file is like none: then teams get the daemon's environment until the next `troupe up`. */
function readAll(path: string, ours: Variables): { teams: Map<string, TeamEnvironment>; lost: Map<string, string[]> } {
  try {
    const stored = Object.entries(Stored.parse(JSON.parse(readFileSync(path, 'utf8'))));
    const teams = stored.map(([team, { patterns, values, secrets }]) => {
      return [team, { patterns, values: { ...values, ...pickVariables(ours, secrets) } }] as const;
    });
    const lost = stored.flatMap(([team, { secrets }]) => (secrets.length > 0 ? [[team, secrets] as const] : []));
    return { teams: new Map(teams), lost: new Map(lost) };
  } catch {
    return { teams: new Map(), lost: new Map() };
  }
}

function isSecret(name: string, value: string): boolean {
  return findInVariable(name, value) !== undefined;
}
