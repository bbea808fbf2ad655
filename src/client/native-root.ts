/** Where Claude Code keeps its own teams, and which can only be looked at; for those who know the house through the client alone. */
export { findNativeRoot } from '../bridge/layout.ts';
export { findReadOnly } from '../bridge/snapshot.ts';
