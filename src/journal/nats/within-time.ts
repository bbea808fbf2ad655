import { TeamError } from '../../core/errors.ts';

/** Bounds the time to read an object: reading one that is replaced or removed meanwhile may never end. */
export async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TeamError('storage', `The servers did not send it within ${ms / 1000} s.`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
