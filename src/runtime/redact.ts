/** What stands in the place of a secret. */
const REDACTED = '[redacted]';

/** Names of variables whose values are secrets. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** Shorter values of such variables ("true", "none", a number) occur in text that is no secret. */
const SECRET_LENGTH = 6;

/** Fields that hold nothing else. */
const SECRET_FIELD = /^(?:token|secret|password|authorization|cookie)$/i;

/** Secrets that show what they are. Every repetition is bounded, so that no text makes them slow. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs, REDACTED],
  [/\bsk-[\w-]{8,512}/g, REDACTED],
  [/\b(?:gh[a-z]_|github_pat_|glpat-|npm_)\w{10,512}/g, REDACTED],
  [/\b(?:xox[a-z]|xapp)-[\w-]{8,512}/g, REDACTED],
  [/\btm1\.[\w-]{8,2048}\.[\w-]{8,256}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{30,64}/g, REDACTED],
  [/\beyJ[\w-]{8,8192}\.[\w-]{8,8192}(?:\.[\w-]{0,8192})?/g, REDACTED],
  [/\b(Bearer|Basic) [\w.~+/=-]{8,8192}/gi, `$1 ${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,1024}@/gi, `$1${REDACTED}@`],
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
