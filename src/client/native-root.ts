/** Where Claude Code keeps its own teams; for those who know the house through the client alone. */
export { findNativeRoot } from '../bridge/layout.ts';
