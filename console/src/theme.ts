// Light or dark, as the user has chosen in Cockpit's menu; "auto" is as the browser says.

const DARK = "pf-v6-theme-dark";
const KEY = "shell:style";

function chosen(): string {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

export function followTheme(): void {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = (style: string) => {
    const dark = style === "dark" || (style !== "light" && system.matches);
    document.documentElement.classList.toggle(DARK, dark);
  };
  apply(chosen());
  system.addEventListener("change", () => apply(chosen()));
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) apply(chosen());
  });
  // Cockpit's shell tells its own pages with this event, which reaches them before the storage.
  window.addEventListener("cockpit-style", (event) => {
    const { detail } = event as CustomEvent<{ style?: string }>;
    apply(detail?.style ?? chosen());
  });
}
