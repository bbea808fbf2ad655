/**
 * Claims until nothing is left, then reports the ids. After its first claim it waits until all others have one too.
 * Otherwise, on a busy machine, fast claimers would be done before slow ones begin.
 */
export function claimAll(claim: () => Promise<string | undefined>, end: () => void = () => {}): void {
  process.once('message', () => {
    void (async () => {
      const ids: string[] = [];
      for (let id = await claim(); id !== undefined; id = await claim()) {
        ids.push(id);
        if (ids.length > 1) continue;
        process.send?.('first');
        await new Promise((resolve) => process.once('message', resolve));
      }
      end();
      process.send?.(ids, () => process.disconnect());
    })();
  });
  process.send?.('ready');
}
