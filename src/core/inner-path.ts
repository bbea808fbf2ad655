import type { TeamParent } from './inner.ts';

/* Apart from `inner.ts`, because the dashboard and the command line load this, and need no schemas. */

/** A team, as far as its place among others is concerned. */
interface Placed {
  readonly name: string;
  readonly parent?: TeamParent | undefined;
}

/** The teams around a team, outermost first; none if it is in no member. A ring, which cannot be, ends it. */
export function parentsOf(teams: readonly Placed[], teamId: string): TeamParent[] {
  const found: TeamParent[] = [];
  for (let at: string | undefined = teamId; at !== undefined && found.length < teams.length;) {
    const parent: TeamParent | undefined = teams.find(({ name }) => name === at)?.parent;
    if (parent) found.unshift(parent);
    at = parent?.teamId;
  }
  return found;
}

/** The way from the outermost team to a member of an inner one: `alpha/rev › ada`; undefined if the team is in no member. */
export function pathTo(teams: readonly Placed[], teamId: string, memberId: string): string | undefined {
  const place = placeAmong(teams, teamId);
  return place === undefined ? undefined : `${place} › ${memberId}`;
}

/** The member in which a team is, from the outermost team: `alpha/rev`; undefined if the team is in no member. */
export function placeAmong(teams: readonly Placed[], teamId: string): string | undefined {
  const [first, ...rest] = parentsOf(teams, teamId);
  return first && [`${first.teamId}/${first.memberId}`, ...rest.map((parent) => parent.memberId)].join(' › ');
}

/** The same, as the team itself knows it. */
export function wayInto({ teamId, memberId, around }: TeamParent): string {
  return around === undefined ? `${teamId}/${memberId}` : `${around} › ${memberId}`;
}

/** Teams in their order, but each inner team after the one around it. */
export function nested<T extends Placed>(teams: readonly T[]): T[] {
  const names = new Set(teams.map(({ name }) => name));
  const inside = new Map<string, T[]>();
  const outermost: T[] = [];
  for (const team of teams) {
    const around = team.parent?.teamId;
    if (around === undefined || !names.has(around)) outermost.push(team);
    else inside.set(around, [...(inside.get(around) ?? []), team]);
  }
  const withInside = (team: T): T[] => [team, ...(inside.get(team.name) ?? []).flatMap(withInside)];
  const placed = outermost.flatMap(withInside);
  // A ring, which cannot be, hides nobody.
  const shown = new Set(placed);
  return [...placed, ...teams.filter((team) => !shown.has(team))];
}

/** The names of a team and of all teams inside its members, each after the one around it. */
export function withInner(teams: readonly Placed[], teamId: string): string[] {
  const inner = teams.filter(({ name, parent }) => parent?.teamId === teamId && name !== teamId);
  const others = teams.filter(({ name }) => name !== teamId);
  return [teamId, ...inner.flatMap(({ name }) => withInner(others, name))];
}
