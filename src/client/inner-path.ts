/** Where teams are among each other, for pages that need no replica. */
export { parentsOf, pathTo, withInner } from '../core/inner-path.ts';
