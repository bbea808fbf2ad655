/** Whether a process still runs; for those who know the house through the client alone. */
export { identify, isRunning, isThere } from '../agents/process.ts';
