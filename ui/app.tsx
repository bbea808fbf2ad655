import { Compass } from 'lucide-react';
import { Suspense, useEffect } from 'react';
import type { ReactNode } from 'react';
import { reach } from './data/daemon.ts';
import { useRoute } from './data/route.ts';
import type { Route } from './data/route.ts';
import { useSignal } from './data/signal.ts';
import { queue } from './data/teams.ts';
import { Frame } from './frame.tsx';
import { Login } from './login.tsx';
import { Palette } from './palette/palette.tsx';
import { Boundary } from './parts/boundary.tsx';
import { later, loadAll } from './parts/later.ts';
import { Link } from './parts/link.tsx';
import { Toasts } from './parts/toast.tsx';
import { useNotices } from './queue/notices.ts';
import { TeamsPage } from './teams/teams-page.tsx';

// A team's replica, with all rules of the core, and each page are loaded when they are first shown.
const TeamProvider = later(async () => (await import('./data/use-team.tsx')).TeamProvider);
const TeamPage = later(async () => (await import('./team/team-page.tsx')).TeamPage);
const MemberPage = later(async () => (await import('./member/member-page.tsx')).MemberPage);
const QueuePage = later(async () => (await import('./queue/queue-page.tsx')).QueuePage);
const DiffPage = later(async () => (await import('./diff/diff-page.tsx')).DiffPage);
const NativePage = later(async () => (await import('./teams/native-page.tsx')).NativePage);
const NotesPage = later(async () => (await import('./notes/notes-page.tsx')).NotesPage);
const SettingsPage = later(async () => (await import('./settings/settings-page.tsx')).SettingsPage);
const SearchPage = later(async () => (await import('./search/search-page.tsx')).SearchPage);
const NumbersPage = later(async () => (await import('./numbers/numbers-page.tsx')).NumbersPage);

/** The whole dashboard. */
export function App() {
  const route = useRoute();
  const isLocked = useSignal(reach) === 'locked';
  useTitle(route);
  useNotices();
  useEffect(loadAll, []);
  if (isLocked) return <Login />;
  return (
    <>
      <Frame route={route}>
        <Boundary>
          <Suspense fallback={null}>
            <WithTeam route={route}>
              <Boundary key={placeOf(route)}>
                <Suspense fallback={null}>
                  <Page route={route} />
                </Suspense>
              </Boundary>
              <Palette route={route} />
            </WithTeam>
          </Suspense>
        </Boundary>
      </Frame>
      <Toasts />
    </>
  );
}

/** Identifies the page. A task opens over the current page, so it is not another page. */
function placeOf(route: Route): string {
  return route.page === 'team' ? `team ${route.teamId}` : JSON.stringify(route);
}

function WithTeam({ route, children }: { route: Route; children: ReactNode }) {
  return 'teamId' in route ? <TeamProvider teamId={route.teamId}>{children}</TeamProvider> : children;
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case 'teams':
      return <TeamsPage />;
    case 'queue':
      return <QueuePage />;
    case 'team':
      return <TeamPage teamId={route.teamId} taskId={route.taskId} />;
    case 'member':
      return <MemberPage teamId={route.teamId} memberId={route.memberId} />;
    case 'numbers':
      return <NumbersPage teamId={route.teamId} />;
    case 'notes':
      return <NotesPage teamId={route.teamId} />;
    case 'settings':
      return <SettingsPage />;
    case 'search':
      return <SearchPage />;
    case 'diff':
      return <DiffPage teamId={route.teamId} of={route.of} />;
    case 'native':
      return <NativePage name={route.name} />;
    case 'nowhere':
      return (
        <main className="empty" id="main" tabIndex={-1}>
          <Compass size={32} aria-hidden />
          <h1>There is nothing at this address</h1>
          <Link className="button" href="/">
            All teams
          </Link>
        </main>
      );
  }
}

const PAGE_WORDS: Readonly<Record<string, string>> = {
  teams: 'Teams',
  queue: 'Queue',
  search: 'Search',
  settings: 'Settings',
  nowhere: 'Nothing here',
};

/** Shows the number of waiting requests in the tab's title, also when the tab is in the background. */
function useTitle(route: Route): void {
  const waiting = useSignal(queue).length;
  useEffect(() => {
    const name = 'memberId' in route ? `${route.memberId} · ${route.teamId}` : 'teamId' in route ? route.teamId : '';
    const page = name || (route.page === 'native' ? route.name : PAGE_WORDS[route.page]);
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page} · Troupe`;
  }, [route, waiting]);
}
