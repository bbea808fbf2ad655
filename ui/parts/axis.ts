/**
 * The labels of an axis, each in the form of the largest: where rounding makes two of them the same, the second says
 * nothing.
 */
export function labelTicks(ticks: readonly number[], show: (tick: number, largest: number) => string): string[] {
  const labels = ticks.map((tick) => show(tick, Math.max(...ticks)));
  return labels.map((label, i) => (label === labels[i - 1] ? '' : label));
}

const LARGEST = 1e12;

/** The steps that an axis may take, none smaller than the least: half a task is none. */
export function stepsFrom(least: number): number[] {
  const steps: number[] = [];
  for (let power = least; power <= LARGEST; power *= 10) steps.push(power, 2 * power, 5 * power);
  return steps;
}
