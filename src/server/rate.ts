/** More keys than a daemon has honest clients. The oldest key goes first. */
const KEYS = 1_024;

/** A token bucket per key: `perSecond` in the long run, `burst` at once. */
export function rateLimit(perSecond: number, burst: number, now: () => number = () => performance.now()) {
  const buckets = new Map<string, { left: number; at: number }>();

  return {
    /** Takes one token; false if the key has none left. */
    take(key: string): boolean {
      const bucket = refill(key);
      if (bucket.left < 1) return false;
      bucket.left--;
      return true;
    },
  };

  function refill(key: string): { left: number; at: number } {
    const time = now();
    const known = buckets.get(key);
    const left = known ? Math.min(burst, known.left + ((time - known.at) / 1_000) * perSecond) : burst;
    const bucket = { left, at: time };
    // Moves the key to the end, so the first key of the map is the one that was quiet longest.
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= KEYS) break;
      buckets.delete(oldest);
    }
    return bucket;
  }
}
