import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../..');

const Report = z.object({
  diagnostics: z.array(
    z.object({
      code: z.string(),
      filename: z.string(),
      help: z.string().optional(),
      labels: z.array(z.object({ span: z.object({ line: z.number() }) })),
      message: z.string(),
    }),
  ),
});

/** A finding of oxlint about one line: the rule and its message. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly text: string;
}

/** Runs the real oxlint with the real configuration over a house that consists of these files, by path. */
export function lint(files: ReadonlyMap<string, string>): Finding[] {
  const house = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-house-')));
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'lint']) {
      cpSync(join(ROOT, name), join(house, name), { recursive: true });
    }
    for (const [file, text] of files) {
      mkdirSync(dirname(join(house, file)), { recursive: true });
      writeFileSync(join(house, file), text);
    }
    const folders = readdirSync(house).filter((name) => !name.includes('.') && name !== 'lint');
    symlinkSync(join(ROOT, 'node_modules'), join(house, 'node_modules'));
    const command = [join(ROOT, 'node_modules/oxlint/bin/oxlint'), '--format', 'json', ...folders];
    const { stdout } = spawnSync(process.execPath, command, { cwd: house, encoding: 'utf8' });
    return Report.parse(JSON.parse(stdout)).diagnostics.map(({ code, filename, help, labels, message }) => ({
      file: filename,
      line: labels[0]?.span.line ?? 0,
      rule: code,
      text: `${message} ${help ?? ''}`,
    }));
  } finally {
    rmSync(house, { recursive: true, force: true });
  }
}
