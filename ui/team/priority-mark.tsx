import type { Priority } from '../forms/priorities.ts';

/** Only what is out of the ordinary is said. */
export function PriorityMark({ priority }: { priority: Priority }) {
  if (priority === 'medium') return null;
  return <span className={`priority ${priority}`}>{priority}</span>;
}
