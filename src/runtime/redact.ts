import { ADDRESS_PASSWORD, SECRET_LENGTH, SECRET_SHAPES } from '../core/secret.ts';

/** Replaces a secret. */
const REDACTED = '[redacted]';

/** Names of variables whose values count as secrets: better one too many, since that costs nothing here. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** Fields that always hold a secret. */
const SECRET_FIELD = /^(?:token|secret|password|authorization|cookie)$/i;

/** Patterns and their replacements. The last but one is so wide that it also matches harmless words. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  ...SECRET_SHAPES.map((shape) => [shape, REDACTED] as const),
  [/\b(Bearer|Basic) [\w.~+/=-]{8,8192}/gi, `$1 ${REDACTED}`],
  [ADDRESS_PASSWORD, `$1${REDACTED}@`],
];

/** Removes secrets from text that goes into a log. */
export interface Redactor {
  text(value: string): string;
  /** The value as JSON, with every text in it redacted. */
  json(value: unknown): string;
  /** From now on this exact value is a secret. */
  hide(secret: string): void;
}

/** A redactor for the known patterns and for the values of the environment's secret variables. */
export function createRedactor(environment: Readonly<Record<string, string | undefined>>): Redactor {
  const secrets: string[] = [];

  function hide(secret: string): void {
    if (secret.length < SECRET_LENGTH || secrets.includes(secret)) return;
    // The longest first: one secret may be the beginning of another.
    secrets.push(secret);
    secrets.sort((a, b) => b.length - a.length);
  }

  function text(value: string): string {
    const plain = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), value);
    return SHAPES.reduce((rest, [shape, instead]) => rest.replace(shape, instead), plain);
  }

  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && SECRET_NAME.test(name)) hide(value);
  }
  return {
    hide,
    text,
    json: (value) =>
      JSON.stringify(value, (key, item: unknown) => {
        if (typeof item !== 'string') return item;
        return SECRET_FIELD.test(key) ? REDACTED : text(item);
      }),
  };
}
