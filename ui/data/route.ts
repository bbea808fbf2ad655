import { useMemo } from 'react';
import { createSignal, useSignal } from './signal.ts';

/** The addresses of the dashboard. */
export type Route =
  | { readonly page: 'teams' | 'queue' | 'search' | 'settings' | 'nowhere' }
  | { readonly page: 'team'; readonly teamId: string; readonly taskId?: string }
  | { readonly page: 'member'; readonly teamId: string; readonly memberId: string }
  | { readonly page: 'numbers' | 'notes'; readonly teamId: string }
  /** `of`: a task or a member; without it, the team's branch. */
  | { readonly page: 'diff'; readonly teamId: string; readonly of?: string }
  | { readonly page: 'native'; readonly name: string };

const place = createSignal(location.pathname + location.search);
addEventListener('popstate', () => place.set(location.pathname + location.search));

/** Goes to another address without a page load. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === place.get()) return;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', to);
  place.set(location.pathname + location.search);
}

/** The current route. */
export function useRoute(): Route {
  const path = useSignal(place).split('?', 1)[0] ?? '/';
  return useMemo(() => readRoute(path), [path]);
}

function readRoute(path: string): Route {
  const [first, teamId, what, id, ...rest] = readParts(path);
  if (rest.length > 0) return { page: 'nowhere' };
  // A browser that opens the login page and is logged in already gets the teams.
  if (first === '' || (first === 'login' && teamId === undefined)) return { page: 'teams' };
  if (first === 'queue' && teamId === undefined) return { page: 'queue' };
  if ((first === 'search' || first === 'settings') && teamId === undefined) return { page: first };
  if (first === 'native' && teamId && what === undefined) return { page: 'native', name: teamId };
  if (first !== 't' || !teamId) return { page: 'nowhere' };
  if (what === undefined) return { page: 'team', teamId };
  if (what === 'task' && id) return { page: 'team', teamId, taskId: id };
  if (what === 'm' && id) return { page: 'member', teamId, memberId: id };
  if ((what === 'numbers' || what === 'notes') && id === undefined) return { page: what, teamId };
  if (what === 'diff') return id ? { page: 'diff', teamId, of: id } : { page: 'diff', teamId };
  return { page: 'nowhere' };
}

function readParts(path: string): string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    // An invalid `%` escape: no page has this address.
    return [path];
  }
}

/** The query of the address, and a function that changes parts of it. */
export function useQuery(): [URLSearchParams, (changes: Readonly<Record<string, string | undefined>>) => void] {
  const search = useSignal(place).split('?')[1] ?? '';
  return [useMemo(() => new URLSearchParams(search), [search]), changeQuery];
}

function changeQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const [path = '/', search = ''] = place.get().split('?');
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  navigate(query.size > 0 ? `${path}?${query.toString()}` : path, { replace: true });
}

/** The address of a team's page. */
export function teamPath(teamId: string, rest = ''): string {
  return `/t/${encodeURIComponent(teamId)}${rest}`;
}

/** The address of a difference: of the branch, a task or a member, now or at a moment. */
export function diffPath(teamId: string, of?: string, at?: number): string {
  const rest = of === undefined ? '' : `/${encodeURIComponent(of)}`;
  return teamPath(teamId, `/diff${rest}${at === undefined ? '' : `?at=${at}`}`);
}

/** Another path with the current query, so that a sheet opens over the same view. */
export function withQuery(path: string): string {
  const search = place.get().split('?')[1];
  return search ? `${path}?${search}` : path;
}
