/** The priorities of a task, the most urgent first. */
export const PRIORITIES = ['critical', 'high', 'medium', 'low'] as const;

export type Priority = (typeof PRIORITIES)[number];

export const PRIORITY_CHOICES = PRIORITIES.map((one) => [one, one] as const);
