// What can be done at a cell of the matrix: a menu beside it, with the reason at what is off.
import { Menu, MenuContent, MenuItem, MenuList } from "../patternfly";
import { useEffect, useRef, type KeyboardEvent } from "react";

export interface CellAction {
  key: string;
  label: string;
  off: string; // why it cannot be done; ""
  run(): void;
}

interface CellMenuProps {
  anchor: HTMLElement;
  label: string;
  actions: readonly CellAction[];
  onClose(): void;
}

const WIDTH = 320;
const GAP = 4;

function placeOf(anchor: HTMLElement, height: number): { left: number; top: number } {
  const box = anchor.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(box.left, window.innerWidth - WIDTH - GAP));
  const below = box.bottom + GAP;
  const top =
    below + height < window.innerHeight ? below : Math.max(GAP, window.innerHeight - height - GAP);
  return { left, top };
}

export function CellMenu({ anchor, label, actions, onClose }: CellMenuProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const menu = box.current;
    if (!menu) return;
    const { left, top } = placeOf(anchor, menu.offsetHeight);
    menu.style.left = `${left}px`;
    menu.style.top = `${top}px`;
    menu.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !menu.contains(event.target)) onClose();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [anchor, onClose]);
  const close = () => {
    onClose();
    anchor.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" && event.key !== "Tab") return;
    event.preventDefault();
    close();
  };
  return (
    <div ref={box} className="sy-menu" data-testid="cell-menu" onKeyDown={onKeyDown}>
      <Menu isPlain aria-label={label}>
        <MenuContent>
          <MenuList aria-label={label}>
            {actions.map((action) => (
              <MenuItem
                key={action.key}
                itemId={action.key}
                data-testid={`action-${action.key}`}
                data-why-off={action.off || undefined}
                isAriaDisabled={action.off !== ""}
                description={action.off || undefined}
                onClick={() => {
                  if (action.off !== "") return;
                  close();
                  action.run();
                }}
              >
                {action.label}
              </MenuItem>
            ))}
          </MenuList>
        </MenuContent>
      </Menu>
    </div>
  );
}
