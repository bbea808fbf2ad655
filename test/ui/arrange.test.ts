import { describe, expect, test } from 'vitest';
import { arrange, NODE_HEIGHT, NODE_WIDTH } from '../../ui/team/graph/arrange.ts';
import type { Places } from '../../ui/team/graph/arrange.ts';
import type { Knot } from '../../ui/team/graph/layers.ts';

/** So many tasks, each with a few earlier ones as dependencies. */
function makeTasks(count: number): Knot[] {
  return Array.from({ length: count }, (_, i): Knot => {
    const needs = new Set(
      [i - 1 - ((i * 7) % 11), i - 1 - ((i * 5) % 13)].filter((n) => n > 0 && i % 9 !== 0).map(String),
    );
    return [String(i), [...needs]];
  });
}

function overlapping(places: Places): string[] {
  const boxes = Object.entries(places).sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
  return boxes.flatMap(([id, [x, y]], i) =>
    boxes
      .slice(i + 1)
      .filter(([, [otherX, otherY]]) => otherX < x + NODE_WIDTH && Math.abs(otherY - y) < NODE_HEIGHT)
      .map(([other]) => `${id} over ${other}`),
  );
}

describe('a layout', () => {
  test.each([30, 400])('of %i tasks puts each one to the right of its dependencies, none over another', (count) => {
    const tasks = makeTasks(count);
    const places = arrange(tasks);
    expect(Object.keys(places)).toHaveLength(count);
    expect(overlapping(places)).toEqual([]);
    for (const [id, needs] of tasks) {
      for (const need of needs) expect(places[id]?.[0]).toBeGreaterThanOrEqual((places[need]?.[0] ?? 0) + NODE_WIDTH);
    }
  });

  test('of tasks without any dependency is a grid, not a column', () => {
    const places = arrange(Array.from({ length: 100 }, (_, i): Knot => [String(i), []]));
    const columns = new Set(Object.values(places).map(([x]) => x));
    expect(columns.size).toBeGreaterThan(5);
    expect(overlapping(places)).toEqual([]);
  });
});
