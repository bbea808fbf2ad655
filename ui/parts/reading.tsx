import { useTeam } from '../data/use-team.tsx';

/** Says that the history is still being read, and how much of it; nothing once it is there. */
export function Reading({ what }: { what: string }) {
  const share = useTeam(({ share }) => Math.round(share * 100));
  const isWhole = useTeam(({ isWhole }) => isWhole);
  if (isWhole) return null;
  return (
    <p className="reading quiet">
      <progress max={100} value={share} aria-label={`Reading ${what}`} /> Reading {what}: {share} %
    </p>
  );
}
