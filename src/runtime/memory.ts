/** Resident memory in bytes; the peak, if the present size cannot be read because no file descriptor is left. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
