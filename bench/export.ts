import { gzipSync } from 'node:zlib';
import { readTemplate, writePage } from '../src/cli/commands/export/page.ts';
import { random } from '../test/seed-numbers.ts';
import type { Benchmark } from './benchmark.ts';
import { makeDay } from './day.ts';
import { interleave, median, time } from './rounds.ts';

/** The file of a day of a team of eight: its size, and how long its page takes to write. */
export const exportPage: Benchmark = {
  name: 'export',
  unit: 'ms',
  about: 'the page of a day of a team of eight: 568 tasks, 3,408 turns, 1,136 messages, 5,000,000 characters of diffs',
  target: 'at most 5 MB, and 2 times the time of gzip alone',
  async run(scale) {
    const { record, batches } = await makeDay(random(1));
    const template = readTemplate();
    const text = JSON.stringify(record);
    const head = { teamId: 'day', at: Date.now(), version: '0.0.0', hasTranscripts: false };
    let bytes = 0;
    const limit = (): Promise<number> => time(() => void gzipSync(text, { level: 9 }));
    const write = (): Promise<number> => time(() => void (bytes = writePage(template, head, record).length));
    const found = await interleave(scale, limit, { write });
    return {
      value: median(found.parts.write),
      limit: 'gzip of the same record',
      limitValue: median(found.limit),
      ratio: median(found.ratios.write),
      peers: [],
      targets: [
        { what: 'MB of the file', value: bytes / 1e6, atMost: 5 },
        { what: 'times gzip', value: median(found.ratios.write), atMost: 2 },
      ],
      more: { batches, recordMegabytes: text.length / 1e6 },
    };
  },
};
