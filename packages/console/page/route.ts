import { signal } from "@preact/signals";

/** Where the page is: the part after `#`, so that a link leads another user to the same place of the same recording. */
export interface Route {
  readonly view: string;
  readonly query: URLSearchParams;
}

export const route = signal<Route>(read());

addEventListener("hashchange", () => {
  route.value = read();
});

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "overview", query: new URLSearchParams(query) };
}

export function linkTo(view: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export function go(view: string, query: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = linkTo(view, query);
}

/** Changes some of the query without a new entry in the browser's history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { view, query } = route.value;
  const next = linkTo(view, { ...Object.fromEntries(query), ...changes });
  history.replaceState(undefined, "", next);
  route.value = read();
}
