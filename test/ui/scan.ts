import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The rules that hold everywhere, by their tags. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];
const EXAMPLES = 3;

type AxeResults = Awaited<ReturnType<AxeBuilder['analyze']>>;

/** What a scan looks at, by selectors, and for what. */
export interface ScanOptions {
  /** The whole page if it is empty. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Rules by name, or all that the scanner has; else those of WCAG. */
  readonly rules?: readonly string[] | 'all';
}

/**
 * The findings of an accessibility scan, one line each. The scanner is loaded into a page once: a scan through `AxeBuilder` loads it
 * again, and a second page to merge the results of frames, which takes twice the processor time (measured).
 */
export async function scan(page: Page, { include = [], exclude = [], rules }: ScanOptions = {}): Promise<string[]> {
  await bringScanner(page);
  const context = include.length + exclude.length === 0 ? 'document' : JSON.stringify({ include, exclude });
  const options = JSON.stringify({ ...choose(rules), resultTypes: ['violations'] });
  const { violations, passes } = (await page.evaluate(`axe.run(${context}, ${options})`)) as AxeResults;
  // A scan that looked at nothing finds nothing.
  expect(passes).not.toEqual([]);
  return violations.map(({ id, nodes }) => {
    const examples = nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`);
    return `${id}: ${examples.slice(0, EXAMPLES).join(' ')}`;
  });
}

function choose(rules: ScanOptions['rules']): object {
  if (rules === 'all') return {};
  return { runOnly: rules === undefined ? { type: 'tag', values: TAGS } : { type: 'rule', values: rules } };
}

async function bringScanner(page: Page): Promise<void> {
  // Only a page with frames needs the second page.
  expect(page.frames()).toHaveLength(1);
  if (await page.evaluate(`'axe' in globalThis`)) return;
  await new AxeBuilder({ page }).setLegacyMode().withRules(['document-title']).analyze();
}
