import { useMemo } from 'react';
import { record } from '../record/head.ts';
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

const place = createSignal(readPlace('/'));
addEventListener('popstate', () => place.set(readPlace(place.get())));

/**
 * Where this page is. A record is one file, which browsers let change only the part of its address after the `#`.
 * `before`: where it was, for parts that are within the page.
 */
function readPlace(before: string): string {
  if (!record) return location.pathname + location.search;
  return location.hash.startsWith('#/') ? location.hash.slice(1) : before;
}

/** The address of a place, for links. */
export function addressOf(to: string): string {
  return record ? `#${to}` : to;
}

/** Goes to another address without a page load. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === place.get()) return;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', addressOf(to));
  place.set(readPlace(to));
}

/** The current route. */
export function useRoute(): Route {
  const path = useSignal(place).split('?', 1)[0] ?? '/';
  return useMemo(() => readRoute(path), [path]);
}

function readRoute(path: string): Route {
  const [first, teamId, what, id, ...rest] = readParts(path);
  if (rest.length > 0) return { page: 'nowhere' };
  // A record begins with its team, and has none of the pages that are about a daemon.
  if (record && first !== 't') return { page: 'team', teamId: record.teamId };
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

/** The current path with parts of its query changed. */
export function hereWith(changes: Readonly<Record<string, string>>): string {
  const [path = '/', search = ''] = place.get().split('?');
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${path}?${query.toString()}`;
}

/** Another path with the current query, so that a sheet opens over the same view. */
export function withQuery(path: string): string {
  const search = place.get().split('?')[1];
  return search ? `${path}?${search}` : path;
}
