import { TriangleAlert } from 'lucide-react';
import { useStore } from '../data/use-team.tsx';
import { Link } from '../parts/link.tsx';

/** Replaces any page of a team that cannot be read: why, and what to do. */
export function FailedTeam() {
  const store = useStore();
  return (
    <main className="empty" id="main" tabIndex={-1}>
      <TriangleAlert size={32} aria-hidden />
      <h1>Team {store.teamId} cannot be shown</h1>
      <pre className="code" role="alert">
        {store.error?.message}
      </pre>
      <div className="row">
        <button type="button" className="button" onClick={() => store.retry()}>
          Try again
        </button>
        <Link className="button" href="/">
          All teams
        </Link>
      </div>
    </main>
  );
}
