/** What is done when the tests of the running file have ended, the last one first. For processes that several tests share. */
export const atFileEnd: (() => Promise<void> | void)[] = [];
