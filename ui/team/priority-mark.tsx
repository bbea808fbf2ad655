import type { Priority } from '../forms/priorities.ts';

/** The usual priority is not shown. */
export function PriorityMark({ priority }: { priority: Priority }) {
  if (priority === 'medium') return null;
  return <span className={`priority ${priority}`}>{priority}</span>;
}
