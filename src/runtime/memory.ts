/** Resident memory in bytes; the most there was, where the present size cannot be read for want of a file descriptor. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
