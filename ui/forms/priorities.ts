/** How soon a task should be taken, the most urgent first, as people choose it. */
export const PRIORITIES = ['critical', 'high', 'medium', 'low'] as const;

export type Priority = (typeof PRIORITIES)[number];

export const PRIORITY_CHOICES = PRIORITIES.map((one) => [one, one] as const);
