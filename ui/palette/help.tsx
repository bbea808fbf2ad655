import { Modal } from '../parts/modal.tsx';
import { record } from '../record/head.ts';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'commands'],
      ['G T', 'all teams'],
      ['G Q', 'queue'],
      ['G S', 'search everything'],
      ['G G', 'tasks of the team'],
      ['G N', 'numbers of the team'],
      ['G D', "diff of the team's branch"],
      ['/', 'filter'],
      ['?', 'this list'],
    ],
  ],
  [
    'Team',
    [
      ['1 2 3', 'graph, board, list'],
      ['N', 'new task'],
      ['← → ↑ ↓', 'graph: needs, unblocks, column; board: card to card'],
      ['Shift ← →', 'on the board: move the card to another column'],
      ['Shift ↑ ↓', 'on the board: more or less urgent'],
      ['M', 'on the board: where the card can go'],
      ['X', 'on the board and in the list: choose the task'],
      ['+ - 0', 'in the graph or on the time line: zoom in, zoom out, all'],
      ['[ ]', 'one step back, one on'],
      ['L', 'back to live'],
      ['Esc', 'close a task'],
    ],
  ],
  [
    'Member',
    [
      ['1 2 3 4', 'transcript, inbox, tasks, usage'],
      ['W', 'write'],
      ['Esc', 'out of the box again'],
    ],
  ],
  [
    'Diff',
    [
      ['J K', 'next, previous file'],
      ['N P', 'next, previous change'],
      ['O', 'fold or unfold the file'],
      ['U S', 'unified, side by side'],
      ['C', 'of work to approve: pick a line to comment on'],
      ['← → ↑ ↓', 'from there: other lines, the other side'],
    ],
  ],
  [
    'Queue',
    [
      ['J K', 'next, previous'],
      ['A', 'yes'],
      ['R', 'no, with the reason'],
      ['Ctrl Enter', 'send the reason'],
    ],
  ],
];

/** Keys that change something or lead to a daemon's pages; a record has none of them. */
const OF_DAEMON = /^(?:G [TQS]|N|Shift .*|[MXWCL]|Esc)$|^← → ↑ ↓$/;

const SHOWN = !record
  ? KEYS
  : KEYS.filter(([place]) => place !== 'Queue').map(
      ([place, keys]) => [place, keys.filter(([key]) => !OF_DAEMON.test(key))] as const,
    );

/** The list of all keys. */
export function Help({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal title="Keys" isOpen={isOpen} onClose={onClose} isForReading>
      <div className="keys">
        {SHOWN.map(([place, keys]) => (
          <section key={place}>
            <h3 className="label">{place}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
