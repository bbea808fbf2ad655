import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import type { AlignedData, Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { labelTicks, stepsFrom } from './axis.ts';
import { showClock, showDay, showSeconds } from './format.ts';

/** One line of a plot. */
export interface Line {
  readonly label: string;
  /** A CSS variable with a colour, such as `--run-mark`. */
  readonly color: string;
  /** Formats a value in the format of the largest one. */
  readonly show?: (value: number, largest: number) => string;
  /** The smallest step between two labels of the axis: 1 for whole things. */
  readonly least?: number;
  readonly isStep?: boolean;
  readonly isFilled?: boolean;
}

/** The smallest step for money. */
export const CENT = 0.01;

/** Lines over time. The page also says them in words, because a screen reader cannot read a canvas. */
export function Plot({
  times,
  values,
  lines,
  height = 200,
  label,
}: {
  times: readonly number[];
  values: readonly (readonly (number | null)[])[];
  lines: readonly Line[];
  height?: number;
  label: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const data = [times.map((time) => time / 1000), ...values] as unknown as AlignedData;
  const key = lines.map((line) => line.label).join();
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(makeOptions(element, lines, height), data, element);
    };
    draw();
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    sized.observe(element);
    // Its colours are pixels, so it is drawn again when the theme changes.
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sized.disconnect();
      themed.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
    // While the labels are the same, so are the lines.
  }, [key, height]);
  useEffect(() => plot.current?.setData(data), [times, values]);
  return <div ref={box} className="plot" role="img" aria-label={label} />;
}

function makeOptions(element: HTMLElement, lines: readonly Line[], height: number): Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--ink-3'),
    font: '11px Inter, sans-serif',
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const [first] = lines;
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    padding: [8, 20, 0, 0],
    axes: [
      {
        ...axis,
        size: 28,
        values: (_plot, ticks) => {
          const span = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
          const show = span > 36 * 3600 ? showDay : span < 4 * 60 ? showSeconds : showClock;
          return labelTicks(ticks, (tick) => show(tick * 1000));
        },
      },
      {
        ...axis,
        size: 56,
        incrs: stepsFrom(first?.least ?? 1),
        values: (_plot, ticks) => labelTicks(ticks, (tick, largest) => first?.show?.(tick, largest) ?? String(tick)),
      },
    ],
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 2,
        points: { show: false },
        ...(line.isFilled && { fill: `color-mix(in oklab, ${color(line.color)} 14%, transparent)` }),
        ...(line.isStep && UPlot.paths.stepped && { paths: UPlot.paths.stepped({ align: 1 }) }),
      })),
    ],
  };
}
