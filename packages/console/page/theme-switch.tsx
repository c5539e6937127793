import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = signal<Theme | undefined>((localStorage.getItem("theme") as Theme | null) ?? undefined);
const preferred = signal<Theme>(dark.matches ? "dark" : "light");
dark.addEventListener("change", ({ matches }) => {
  preferred.value = matches ? "dark" : "light";
});

export const theme = (): Theme => chosen.value ?? preferred.value;

/** Light or dark: as the system is, until the user chooses. */
export function ThemeSwitch() {
  const now = theme();
  document.documentElement.dataset["theme"] = now;
  const other = now === "dark" ? "light" : "dark";
  const choose = () => {
    chosen.value = other;
    localStorage.setItem("theme", other);
  };
  return (
    <button
      type="button"
      class="icon"
      onClick={choose}
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {now === "dark" ? (
          <path d="M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M16 4l-1.4 1.4M5.4 14.6L4 16" />
        ) : (
          <path d="M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z" />
        )}
      </svg>
    </button>
  );
}
