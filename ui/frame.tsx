import { BarChart3, FileDiff, Inbox, LogOut, Moon, Search, Settings, Sun, Users, Waypoints } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { reach } from './data/daemon.ts';
import { diffPath, navigate, teamPath } from './data/route.ts';
import type { Route } from './data/route.ts';
import { setTheme, shade } from './data/settings.ts';
import { useSignal } from './data/signal.ts';
import { queue, teams } from './data/teams.ts';
import { LogOutForm } from './forms/log-out.tsx';
import { isLogOutOpen } from './palette/open.ts';
import { IconButton } from './parts/icon-button.tsx';
import { useKeys } from './parts/keys.ts';
import { Link } from './parts/link.tsx';
import { record } from './record/head.ts';
import { RecordLine } from './record/line.tsx';

/** The frame of every page: navigation, waiting requests, and whether the daemon is reachable. */
export function Frame({ route, children }: { route: Route; children: ReactNode }) {
  const waiting = useSignal(queue).length;
  const teamId = useLastTeam(route);
  useKeys({
    ...(!record && {
      'g t': () => navigate('/'),
      'g q': () => navigate('/queue'),
      'g s': () => navigate('/search'),
    }),
    'g g': teamId ? () => navigate(teamPath(teamId)) : undefined,
    'g d': teamId ? () => navigate(diffPath(teamId)) : undefined,
    'g n': teamId ? () => navigate(teamPath(teamId, '/numbers')) : undefined,
  });
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className="rail" aria-label="Dashboard">
        <Link className="logo" href="/" aria-label={record ? `Troupe, team ${record.teamId}` : 'Troupe, all teams'}>
          <Logo />
        </Link>
        {!record && (
          <Stop
            href="/"
            label="Teams"
            icon={<Users size={20} aria-hidden />}
            isHere={route.page === 'teams' || route.page === 'native'}
          />
        )}
        {teamId && (
          <Stop
            href={teamPath(teamId)}
            label="Tasks"
            icon={<Waypoints size={20} aria-hidden />}
            isHere={route.page === 'team' || route.page === 'member' || (!record && route.page === 'diff')}
          />
        )}
        {record ? (
          <Stop
            href={diffPath(teamId ?? record.teamId)}
            label="Diff"
            icon={<FileDiff size={20} aria-hidden />}
            isHere={route.page === 'diff'}
          />
        ) : (
          <>
            <Stop
              href="/queue"
              label="Queue"
              icon={<Inbox size={20} aria-hidden />}
              isHere={route.page === 'queue'}
              count={waiting}
            />
            <Stop
              href="/search"
              label="Search"
              icon={<Search size={20} aria-hidden />}
              isHere={route.page === 'search'}
            />
          </>
        )}
        {teamId && (
          <Stop
            href={teamPath(teamId, '/numbers')}
            label="Numbers"
            icon={<BarChart3 size={20} aria-hidden />}
            isHere={route.page === 'numbers'}
          />
        )}
        <span className="spacer" />
        {!record && (
          <Stop
            href="/settings"
            label="Settings"
            icon={<Settings size={20} aria-hidden />}
            isHere={route.page === 'settings'}
          />
        )}
        <ThemeButton />
        {!record && (
          <IconButton
            className="leave in-settings"
            onClick={() => isLogOutOpen.set(true)}
            label="Log out"
            title="Log out"
          >
            <LogOut size={18} aria-hidden />
          </IconButton>
        )}
      </nav>
      <div className="content">
        {record ? <RecordLine record={record} /> : <ReachBanner />}
        {children}
      </div>
      <LogOutForm />
    </div>
  );
}

/** The team that was shown last, for the link back to it. */
function useLastTeam(route: Route): string | undefined {
  const here = 'teamId' in route ? route.teamId : undefined;
  useEffect(() => {
    if (here !== undefined) sessionStorage.setItem('team', here);
  }, [here]);
  const list = useSignal(teams);
  const last = here ?? sessionStorage.getItem('team') ?? undefined;
  return here ?? (list?.some(({ id }) => id === last) ? last : undefined);
}

function Stop({
  href,
  label,
  icon,
  isHere,
  count = 0,
}: {
  href: string;
  label: string;
  icon: ReactNode;
  isHere: boolean;
  count?: number;
}) {
  return (
    <Link className="stop" href={href} aria-current={isHere ? 'page' : undefined}>
      <span className="stop-icon">
        {icon}
        {count > 0 && (
          <span className="stop-count">
            {count}
            <span className="hidden"> waiting</span>
          </span>
        )}
      </span>
      {label}
    </Link>
  );
}

/**
 * The page stays readable while the daemon is unreachable. The banner appears after a delay, not at every short loss.
 */
function ReachBanner() {
  const now = useSignal(reach);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    setShown(false);
    if (now !== 'lost') return undefined;
    const timer = setTimeout(() => setShown(true), 400);
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <div role="status" aria-live="polite">
      {isShown && (
        <div className="reach">
          <span className="reach-dot" /> Reconnecting to the daemon. Until then this page may be out of date.
        </div>
      )}
    </div>
  );
}

function ThemeButton() {
  const now = useSignal(shade);
  const next = now === 'dark' ? 'light' : 'dark';
  return (
    <IconButton
      className="in-settings"
      onClick={() => setTheme(next)}
      label={`Use the ${next} theme`}
      title={`Use the ${next} theme`}
    >
      {now === 'dark' ? <Sun size={18} aria-hidden /> : <Moon size={18} aria-hidden />}
    </IconButton>
  );
}

export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={2} aria-hidden>
      <rect x={8.5} y={3} width={7} height={6} rx={1.5} />
      <rect x={2.5} y={15} width={7} height={6} rx={1.5} />
      <rect x={14.5} y={15} width={7} height={6} rx={1.5} />
      <path d="M12 9v3M6 15v-3h12v3" />
    </svg>
  );
}
