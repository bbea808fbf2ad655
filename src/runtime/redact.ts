import { ADDRESS_PASSWORD, SECRET_LENGTH, SECRET_SHAPES } from '../core/secret.ts';

/** What stands in the place of a secret. */
const REDACTED = '[redacted]';

/** Names of variables whose values are taken for secrets: rather one too many, for here that costs nothing. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** Fields that hold nothing else. */
const SECRET_FIELD = /^(?:token|secret|password|authorization|cookie)$/i;

/** What is replaced by what. The last but one is so wide that it also takes words that are none. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  ...SECRET_SHAPES.map((shape) => [shape, REDACTED] as const),
  [/\b(Bearer|Basic) [\w.~+/=-]{8,8192}/gi, `$1 ${REDACTED}`],
  [ADDRESS_PASSWORD, `$1${REDACTED}@`],
];

/** Takes secrets out of what is about to leave the process for a log. */
export interface Redactor {
  text(value: string): string;
  /** The same value with every text in it redacted, and ready for JSON. */
  json(value: unknown): string;
  /** From here on this exact value is a secret. */
  hide(secret: string): void;
}

/** A redactor for the known shapes and for the values that the environment's secret variables have. */
export function createRedactor(environment: Readonly<Record<string, string | undefined>>): Redactor {
  const secrets: string[] = [];

  function hide(secret: string): void {
    if (secret.length < SECRET_LENGTH || secrets.includes(secret)) return;
    // The longest first: one secret may begin another.
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
