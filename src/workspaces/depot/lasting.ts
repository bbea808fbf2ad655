import type { GitOptions, GitResult } from '../git.ts';

type Run = (args: readonly string[], options?: GitOptions) => Promise<GitResult>;

/** What is kept in all, and the largest answer that is kept, in bytes. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_OF_ONE = 256 * 1024;
/** What nobody asked for in this time is forgotten: a save or a tip that was replaced is not asked for again. */
const UNUSED_MS = 5 * 60_000;

interface Kept {
  readonly answer: GitResult;
  readonly asked: number;
}

/**
 * Runs commands whose answers never change, because full ids are all that they name, and keeps the last answers. To start git
 * takes longer than most of its answers, and the tree of a tip or the difference of a save from its base is asked for again and
 * again. What git refused, or left out, is asked again.
 */
export function keepingAnswers(run: Run, now = (): number => performance.now()): Run {
  const known = new Map<string, Kept>();
  let bytes = 0;

  return async (args, options = {}) => {
    const key = keyOf(args, options);
    const kept = known.get(key);
    if (kept) {
      options.signal?.throwIfAborted();
      // A map keeps its order, so the first is the one that nobody asked for the longest.
      known.delete(key);
      known.set(key, { ...kept, asked: now() });
      return kept.answer;
    }
    const given = await run(args, options);
    if (given.code !== 0 || given.isCut || given.out.length > MOST_OF_ONE || known.has(key)) return given;
    const answer = { ...given, out: copyOf(given.out) };
    known.set(key, { answer, asked: now() });
    bytes += weigh(key, answer);
    forget();
    return answer;
  };

  function forget(): void {
    for (const [key, { answer, asked }] of known) {
      if (bytes <= MOST_BYTES && now() - asked <= UNUSED_MS) return;
      known.delete(key);
      bytes -= weigh(key, answer);
    }
  }
}

/** In memory of its own. Node cuts small buffers from pages of 64 KB, and each that is kept keeps its page. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function keyOf(args: readonly string[], { config = [] }: GitOptions): string {
  return [...config, '', ...args].join('\0');
}

function weigh(key: string, { out }: GitResult): number {
  // With what the map and the objects themselves take.
  return key.length + out.length + 500;
}
