import { Maximize2, ZoomIn, ZoomOut } from 'lucide-react';
import type { TimeWindow } from './use-window.ts';

/** Closer, farther, all. */
export function TimeZoom({ window, className }: { window: TimeWindow; className: string }) {
  return (
    <div className={`row time-zoom ${className}`} role="group" aria-label="Zoom of the time line">
      <button
        type="button"
        className="button ghost icon"
        onClick={window.closer}
        aria-label="Zoom the time line in"
        title="Zoom in (the wheel, or + on the line)"
      >
        <ZoomIn size={17} aria-hidden />
      </button>
      <button
        type="button"
        className="button ghost icon"
        onClick={window.farther}
        disabled={!window.isZoomed}
        aria-label="Zoom the time line out"
        title="Zoom out (the wheel, or - on the line)"
      >
        <ZoomOut size={17} aria-hidden />
      </button>
      {window.isZoomed && (
        <button
          type="button"
          className="button ghost icon"
          onClick={window.showAll}
          aria-label="The whole time line"
          title="The whole time line (0 on the line)"
        >
          <Maximize2 size={16} aria-hidden />
        </button>
      )}
    </div>
  );
}
