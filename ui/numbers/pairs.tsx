/** More would not fit; the members with the most messages are shown. */
const SHOWN = 14;

/** How many messages each member sent to each other; darker means more. */
export function Pairs({ pairs }: { pairs: ReadonlyMap<string, ReadonlyMap<string, number>> }) {
  const totals = new Map<string, number>();
  for (const [from, row] of pairs) {
    for (const [to, count] of row) {
      totals.set(from, (totals.get(from) ?? 0) + count);
      totals.set(to, (totals.get(to) ?? 0) + count);
    }
  }
  const names = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
  if (names.length === 0) return <p className="quiet">Nobody has written yet.</p>;
  const shown = names.slice(0, SHOWN);
  const senders = shown.filter((name) => pairs.has(name));
  const receivers = shown.filter((name) => !name.startsWith('@'));
  const most = Math.max(...[...pairs.values()].flatMap((row) => [...row.values()]));
  return (
    <div className="pairs" tabIndex={0} role="group" aria-label="Messages by pair">
      <table>
        <thead>
          <tr>
            <td />
            {receivers.map((name) => (
              <th key={name} scope="col">
                <span className="one-line">{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {senders.map((from) => (
            <tr key={from}>
              <th scope="row">
                <span className="one-line">{from === '@user' ? 'you' : from === '@system' ? 'Troupe' : from}</span>
              </th>
              {receivers.map((to) => {
                const count = pairs.get(from)?.get(to) ?? 0;
                const part = Math.sqrt(count / most);
                return (
                  <td
                    key={to}
                    className={part > 0.55 ? 'strong' : undefined}
                    style={
                      count > 0
                        ? {
                            background: `color-mix(in oklab, var(--accent) ${Math.round(8 + part * 80)}%, var(--surface))`,
                          }
                        : {}
                    }
                  >
                    {count > 0 ? count : <span className="hidden">0</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {names.length > SHOWN && <p className="meta">and {names.length - SHOWN} who wrote less</p>}
    </div>
  );
}
