/**
 * Claims until nothing is left, then says what it got. After its first claim it waits for the word to go on, which comes when
 * everybody has one: on a busy machine the fast ones would else be done before the slow ones begin.
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
