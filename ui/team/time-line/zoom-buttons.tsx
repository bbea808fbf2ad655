import { Maximize2, ZoomIn, ZoomOut } from 'lucide-react';
import { IconButton } from '../../parts/icon-button.tsx';
import type { TimeWindow } from './use-window.ts';

/** Closer, farther, all. */
export function TimeZoom({ window, className }: { window: TimeWindow; className: string }) {
  return (
    <div className={`row time-zoom ${className}`} role="group" aria-label="Zoom of the time line">
      <IconButton onClick={window.closer} label="Zoom the time line in" title="Zoom in (the wheel, or + on the line)">
        <ZoomIn size={17} aria-hidden />
      </IconButton>
      <IconButton
        onClick={window.farther}
        disabled={!window.isZoomed}
        label="Zoom the time line out"
        title="Zoom out (the wheel, or - on the line)"
      >
        <ZoomOut size={17} aria-hidden />
      </IconButton>
      {window.isZoomed && (
        <IconButton onClick={window.showAll} label="The whole time line" title="The whole time line (0 on the line)">
          <Maximize2 size={16} aria-hidden />
        </IconButton>
      )}
    </div>
  );
}
