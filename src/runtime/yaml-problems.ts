import { z } from 'zod';
import { findNearest } from '../core/nearest.ts';
import { boundOf, isWorded, unitOf } from '../core/parse.ts';
import { quote } from '../core/text.ts';

/** A position in a file: keys and list indexes from the top. */
export type Path = readonly (string | number)[];

/** Something wrong with a file. */
export interface Problem {
  readonly path: Path;
  /** The last step of the path is an unknown key. */
  readonly isKey: boolean;
  readonly text: string;
}

type Issue = z.core.$ZodIssue;

/** The parts of a schema that we explain to people. */
interface Form {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Form[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Form;
  readonly additionalProperties?: Form | boolean;
  readonly items?: Form;
}

/** Explains what is wrong: which field, what it may be, and what was probably meant. */
export function explainIssues(issues: readonly Issue[], value: unknown, schema: z.ZodType): Problem[] {
  const whole = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Form;
  const problems = issues.flatMap((issue) => explain(issue, issue.path as Path, { whole, value }));
  return problems.filter((one) => !problems.some((other) => isMisspelling(other, one)));
}

/** Whether one problem is a misspelt key and the other its absence: that is reported once. */
function isMisspelling(key: Problem, missing: Problem): boolean {
  if (!key.isKey || missing.isKey || key.path.length !== missing.path.length) return false;
  const isBeside = key.path.slice(0, -1).every((step, i) => step === missing.path[i]);
  return isBeside && findNearest(String(key.path.at(-1)), [String(missing.path.at(-1))]) !== undefined;
}

function explain(issue: Issue, path: Path, file: { whole: Form; value: unknown }): Problem[] {
  const forms = formsAt(file.whole, path);
  const found = valueAt(file.value, path);
  const say = (text: string): Problem[] => [{ path, isKey: false, text: `${nameOf(path)} ${text}` }];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, forms));
  if (issue.code === 'invalid_key') return issue.issues.flatMap((one) => explain(one, path, file));
  if (path.length === 0 && (found === undefined || found === null)) {
    return say('is empty: it needs at least "team: NAME"; troupe init writes a complete one');
  }
  if (found === undefined || found === null) return say(`is missing: ${accepted(forms)}`);
  if (issue.code === 'invalid_union') {
    const meant = branchMeant(issue.errors);
    if (!meant) return say(issue.message === 'Invalid input' ? misfit(found, forms) : issue.message);
    return meant.flatMap((one) => explain(one, [...path, ...(one.path as Path)], file));
  }
  if (issue.code === 'invalid_type' && isWorded(issue)) return say(issue.message);
  if (issue.code === 'invalid_value' || issue.code === 'invalid_type') return say(misfit(found, forms));
  if (issue.code === 'too_big') return say(`must be at most ${issue.maximum}${unitOf(issue.origin)}`);
  if (issue.code === 'too_small') return say(`must be ${boundOf(issue)}${unitOf(issue.origin)}`);
  return say(issue.message);
}

/** The one form of several that the value was meant to have, if that is clear. */
function branchMeant(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const fitting = branches.filter((issues) => !issues.some(({ path, code }) => path.length === 0 && isOther(code)));
  if (fitting.length < 2) return fitting[0];
  // Several objects: the one with an almost matching key, or the only one that has all the keys, else none.
  const isAlmost = fitting.find((issues) =>
    issues.some(
      (issue) =>
        issue.code === 'unrecognized_keys' &&
        issues.some(({ path }) => issue.keys.some((key) => findNearest(key, [String(path[0])]) !== undefined)),
    ),
  );
  const known = fitting.filter((issues) => !issues.some(({ code }) => code === 'unrecognized_keys'));
  return isAlmost ?? (known.length === 1 ? known[0] : undefined);
}

function isOther(code: Issue['code']): boolean {
  return code === 'invalid_type' || code === 'invalid_value';
}

function unknownKey(key: string, path: Path, forms: readonly Form[]): Problem {
  const known = [...new Set(forms.flatMap(keysOf))];
  const nearest = findNearest(key, known);
  const hint = nearest === undefined ? `there is ${known.join(', ')}` : `did you mean ${nearest}?`;
  const place = path.length === 0 ? '' : ` in ${nameOf(path)}`;
  return { path: [...path, key], isKey: true, text: `there is no key ${quote(key)}${place}; ${hint}` };
}

function misfit(found: unknown, forms: readonly Form[]): string {
  const words = forms.flatMap((form) => form.enum ?? []);
  const nearest = typeof found === 'string' ? findNearest(found, words) : undefined;
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return `cannot be ${show(found)}${hint}: ${accepted(forms)}${inQuotes(found, forms)}`;
}

/** YAML reads 2026 as a number and true as a boolean, and not everyone knows why that is not a text. */
function inQuotes(found: unknown, forms: readonly Form[]): string {
  const isScalar = typeof found === 'number' || typeof found === 'boolean';
  return isScalar && forms.some(({ type, enum: words }) => type === 'string' && !words)
    ? `; in quotes it is one: "${String(found)}"`
    : '';
}

function show(found: unknown): string {
  if (Array.isArray(found)) return 'a list';
  if (typeof found === 'object') return 'a map';
  return typeof found === 'string' ? quote(found) : JSON.stringify(found);
}

/** The values that are allowed. */
function accepted(forms: readonly Form[]): string {
  const kinds = [...new Set(forms.map(kindOf))];
  return `it takes ${kinds.join(', or ')}`;
}

function kindOf(form: Form): string {
  if (form.enum) return form.enum.join(' or ').replaceAll(/ or (?=.* or )/g, ', ');
  if (form.type === 'object') {
    const keys = form.required ?? [];
    return keys.length === 0
      ? `a map of ${keysOf(form).join(', ')}`
      : `{ ${keys.map((key) => `${key}: …`).join(', ')} }`;
  }
  if (form.type === 'array') {
    const list = form.items?.type === 'string' ? 'a list of texts' : 'a list';
    return form.description === undefined ? list : `${list} (${form.description})`;
  }
  if (form.type === 'boolean') return 'true or false';
  if (form.type === 'integer' || form.type === 'number') return 'a number';
  return form.description === undefined ? 'a text' : `a text (${form.description})`;
}

function keysOf(form: Form): readonly string[] {
  return form.properties ? Object.keys(form.properties) : (form.propertyNames?.enum ?? []);
}

/** The forms that a value at a path may have. */
function formsAt(whole: Form, path: Path): Form[] {
  let forms = flatten(whole);
  for (const step of path) forms = forms.flatMap((form) => flatten(below(form, step)));
  return forms;
}

function below({ properties, items, additionalProperties }: Form, step: string | number): Form | undefined {
  if (typeof step === 'number') return items;
  if (properties && Object.hasOwn(properties, step)) return properties[step];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The alternatives of a form, flattened. */
function flatten(form: Form | undefined): Form[] {
  if (!form) return [];
  return form.anyOf ? form.anyOf.flatMap(flatten) : [form];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at: unknown, step) => (at as Record<string | number, unknown> | null | undefined)?.[step], value);
}

/** `members[0].agent`: lists count from 0, as in every tool that reads such files. */
function nameOf(path: Path): string {
  if (path.length === 0) return 'the file';
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${step}`)).join('');
}
