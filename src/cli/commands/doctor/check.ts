/** What was looked at, how it is, and what to do where it is not well. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly remedy?: string;
}
