import { Menu } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';

/** One line of a menu. */
export interface MenuLine {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
}

/** A heading above the lines that follow. */
export interface MenuHead {
  readonly head: string;
}

/** A button with a menu below it. */
export function ActionMenu({
  trigger,
  lines,
}: {
  trigger: ReactElement;
  lines: readonly (MenuLine | MenuHead | 'line')[];
}) {
  return (
    <Menu.Root>
      <Menu.Trigger render={trigger} />
      <Menu.Portal>
        <Menu.Positioner className="menu-place" sideOffset={4} align="end">
          <Menu.Popup className="menu">
            {lines.map((line, i) =>
              line === 'line' ? (
                <div key={i} className="menu-line" role="separator" />
              ) : 'head' in line ? (
                <div key={i} className="menu-head">
                  {line.head}
                </div>
              ) : (
                <Menu.Item
                  key={line.label}
                  className={`menu-item${line.isDanger ? ' danger' : ''}`}
                  disabled={line.isDisabled ?? false}
                  onClick={line.onSelect}
                >
                  {line.icon}
                  {line.label}
                </Menu.Item>
              ),
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
