/** The result of a check, and what to do if it is not ok. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly remedy?: string;
  /** Mends it, if that loses nothing, and says what it did. */
  readonly mend?: () => string;
}
