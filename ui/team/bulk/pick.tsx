/** A box that chooses a task for an action on several. The row or card that it is in does not open. */
export function Pick({
  id,
  isChosen,
  onPick,
}: {
  id: string;
  isChosen: boolean;
  onPick: (isChosen: boolean, isRange: boolean) => void;
}) {
  return (
    <label
      className="pick"
      onClick={(event) => event.stopPropagation()}
      onPointerDown={(event) => event.stopPropagation()}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        checked={isChosen}
        aria-label={`Choose #${id}`}
        onChange={({ nativeEvent }) => onPick(!isChosen, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
      />
    </label>
  );
}
