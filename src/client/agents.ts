/** Which agents there are and where a program is; for those who know the house through the client alone. */
export { AGENTS } from '../agents/catalog.ts';
export { findProgram } from '../agents/program.ts';
