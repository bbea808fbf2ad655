/** The labels of an axis, in the format of the largest. If rounding makes two neighbours equal, the second is empty. */
export function labelTicks(ticks: readonly number[], show: (tick: number, largest: number) => string): string[] {
  const labels = ticks.map((tick) => show(tick, Math.max(...ticks)));
  return labels.map((label, i) => (label === labels[i - 1] ? '' : label));
}

const LARGEST = 1e12;

/** The possible steps of an axis, none smaller than `least`: there are no half tasks. */
export function stepsFrom(least: number): number[] {
  const steps: number[] = [];
  for (let power = least; power <= LARGEST; power *= 10) steps.push(power, 2 * power, 5 * power);
  return steps;
}
