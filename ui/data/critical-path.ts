import type { TaskView } from './task-view.ts';

/**
 * The longest chain of open tasks, with the completed tasks that led to it. Each task counts the same, because nobody
 * knows how long one will take.
 */
export function criticalPath(byId: ReadonlyMap<string, TaskView>): { ids: ReadonlySet<string>; left: number } {
  const length = new Map<string, number>();
  const from = new Map<string, string>();
  for (const id of inOrder(byId)) {
    const view = byId.get(id) as TaskView;
    const own = isOpen(view) ? 1 : 0;
    let best = 0;
    for (const dependency of view.task.dependencies) {
      const before = length.get(dependency) ?? -1;
      if (before > best || (before >= best && !from.has(id) && byId.has(dependency))) {
        best = Math.max(before, 0);
        from.set(id, dependency);
      }
    }
    length.set(id, best + own);
  }
  let end: string | undefined;
  let left = 0;
  for (const [id, value] of length) {
    if (value <= left) continue;
    left = value;
    end = id;
  }
  const ids = new Set<string>();
  for (let id = end; id !== undefined; id = from.get(id)) ids.add(id);
  // A chain of one task says nothing.
  return { ids: ids.size > 1 ? ids : new Set(), left };
}

function isOpen({ phase }: TaskView): boolean {
  return phase !== 'completed' && phase !== 'failed';
}

/** Topological order: every task after its dependencies. */
function inOrder(byId: ReadonlyMap<string, TaskView>): string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  for (const start of byId.keys()) {
    const path: string[] = [start];
    while (path.length > 0) {
      const id = path.at(-1) as string;
      const next = byId.get(id)?.task.dependencies.find((one) => !seen.has(one) && byId.has(one));
      if (!seen.has(id) && next !== undefined) path.push(next);
      else {
        path.pop();
        if (!seen.has(id)) order.push(id);
        seen.add(id);
      }
    }
  }
  return order;
}
