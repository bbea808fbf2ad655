import { readFileSync } from 'node:fs';
import { matchesGlob, relative } from 'node:path';
import type { Facts } from '../test/proof.ts';
import { ROOT } from './results.ts';
import type { CoveredRoom } from './rooms.ts';

/** How many branches the tests reached, and where those are that they did not. */
export interface Coverage {
  readonly facts: Facts;
  /** As `file:line`. A line with several of them is there several times. */
  readonly uncovered: readonly string[];
}

/** Of a report in the form of istanbul: by file, the hits of each branch and where its ways begin. */
export type CoverageReport = Readonly<Record<string, FileCoverage>>;

interface FileCoverage {
  readonly b: Readonly<Record<string, readonly number[]>>;
  readonly branchMap: Readonly<Record<string, Branch>>;
}

interface Branch {
  readonly loc: Span;
  readonly locations: readonly Partial<Span>[];
}

interface Span {
  /** The way that is not written (an `if` without `else`) has no line. */
  readonly start: { readonly line?: number };
}

/** The arguments of vitest that run the tests of the rooms, and write a report into the folder. */
export function coverageArguments(rooms: readonly CoveredRoom[], folder: string): string[] {
  return [
    ...new Set(rooms.flatMap(({ tests }) => tests)),
    '--coverage',
    '--coverage.reporter=json',
    `--coverage.reportsDirectory=${folder}`,
    ...rooms.flatMap(({ files }) => files.map((file) => `--coverage.include=${file}`)),
  ];
}

/** Reads the report that vitest wrote into the folder. */
export function readCoverage(folder: string, rooms: readonly CoveredRoom[]): Coverage {
  return countBranches(JSON.parse(readFileSync(`${folder}/coverage-final.json`, 'utf8')) as CoverageReport, rooms);
}

/** Counts the branches of each room, as `<room> branches` and `<room> covered`. */
export function countBranches(report: CoverageReport, rooms: readonly CoveredRoom[]): Coverage {
  const files = Object.entries(report).map(([path, file]) => [relative(ROOT, path), waysOf(file)] as const);
  const counts = rooms.map(({ name, files: patterns }) => {
    const ways = files.flatMap(([path, all]) => (patterns.some((one) => matchesGlob(path, one)) ? all : []));
    return [
      [branchesOf(name), ways.length],
      [coveredOf(name), ways.filter(({ hits }) => hits > 0).length],
    ] as const;
  });
  const uncovered = files.flatMap(([path, all]) => {
    const lines = all.filter(({ hits }) => hits === 0).map(({ line }) => line);
    return lines.toSorted((a, b) => a - b).map((line) => `${path}:${line}`);
  });
  return { facts: Object.fromEntries(counts.flat()), uncovered: uncovered.toSorted(byPath) };
}

export function branchesOf(room: string): string {
  return `${room} branches`;
}

export function coveredOf(room: string): string {
  return `${room} covered`;
}

function waysOf({ b, branchMap }: FileCoverage): { hits: number; line: number }[] {
  return Object.entries(b).flatMap(([id, all]) =>
    all.map((hits, at) => ({ hits, line: lineOf(branchMap[id] as Branch, at) })),
  );
}

function lineOf({ loc, locations }: Branch, at: number): number {
  return locations[at]?.start?.line ?? loc.start.line ?? 0;
}

/** By file; the lines of a file are in order already. */
function byPath(a: string, b: string): number {
  const [one = '', other = ''] = [a, b].map((place) => place.slice(0, place.lastIndexOf(':')));
  return one.localeCompare(other, 'en');
}
