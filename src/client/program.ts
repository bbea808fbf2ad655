/** Where a program is that people have on their path; for those who know the house through the client alone. */
export { findProgram } from '../agents/program.ts';
