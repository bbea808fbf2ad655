/** From here on, a new conversation will soon replace this one. */
const NEARLY_FULL = 0.85;

/** How full an agent's context window is. */
export function ContextMeter({ context: { used, size } }: { context: { used: number; size: number } }) {
  const part = Math.min(1, used / size);
  const percent = `${Math.round(part * 100)}%`;
  return (
    <span
      className={`context${part >= NEARLY_FULL ? ' is-gate' : ''}`}
      role="img"
      aria-label={`Context ${percent} full`}
      title={`Context: ${used.toLocaleString('en-US')} of ${size.toLocaleString('en-US')} tokens`}
    >
      <span className="context-bar">
        <span style={{ width: percent }} />
      </span>
      {percent}
    </span>
  );
}
