// Checks the built pages: each link leads to a page and to an element with that id, each image exists, and nothing is loaded
// from another host.
import { posix } from "node:path";

/** The outcome: how many links were followed, and which lead nowhere. */
export interface LinkReport {
  readonly links: number;
  readonly problems: string[];
}

/** `pages` are the HTML files by path; `exists` is for all other files; `base` is the path that the site is served from. */
export function checkBuiltLinks(
  pages: ReadonlyMap<string, string>,
  exists: (path: string) => boolean,
  base = "/",
): LinkReport {
  const read = new Map([...pages].map(([file, html]) => [file, tagsOf(html)]));
  const ids = new Map([...read].map(([file, tags]) => [file, new Set(tags.flatMap(({ id }) => id ?? []))]));
  const problems: string[] = [];
  let links = 0;
  for (const [file, tags] of read) {
    for (const { name, href, src } of tags) {
      const target = src ?? href;
      if (name === "img" && !src) problems.push(`${file}: <img> has no src`);
      if (target === undefined) continue;
      links++;
      const problem = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target)
        ? fromElsewhere(name, target)
        : missing(target, file, { ids, exists, base });
      if (problem) problems.push(`${file}: ${problem}`);
    }
  }
  return { links, problems: [...new Set(problems)] };
}

/** Readers may follow links to other sites; the page itself must not load anything from there. */
function fromElsewhere(tag: string, target: string): string | undefined {
  return tag === "a" || target.startsWith("data:") ? undefined : `<${tag}> loads ${target}`;
}

interface Built {
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>;
  readonly exists: (path: string) => boolean;
  readonly base: string;
}

function missing(target: string, from: string, { ids, exists, base }: Built): string | undefined {
  const [, path = "", hash = ""] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/.exec(target) ?? [];
  if (path.startsWith("/") && !path.startsWith(base)) return `${target} is outside ${base}`;
  const inside = path.startsWith("/") ? path.slice(base.length) : posix.join(posix.dirname(from), decodeURI(path));
  const file = path === "" ? from : decodeURI(inside).replace(/(^|\/)$/, "$1index.html");
  const there = ids.get(file);
  if (!there) return exists(file) ? undefined : `${target} does not exist`;
  return hash === "" || there.has(decodeURIComponent(hash)) ? undefined : `${target}: no heading has this anchor`;
}

interface Tag {
  readonly name: string;
  readonly id?: string;
  readonly href?: string;
  readonly src?: string;
}

function tagsOf(html: string): Tag[] {
  const markup = html.replaceAll(/<script\b[^>]*>[\s\S]*?<\/script>/g, (script) =>
    script.slice(0, script.indexOf(">") + 1),
  );
  return [...markup.matchAll(/<([a-z][a-z0-9-]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, name, attributes]) => {
      const found = [...attributes!.matchAll(/\s(id|href|src)="([^"]*)"/g)];
      return { name: name!, ...Object.fromEntries(found.map(([, key, value]) => [key, unescaped(value!)])) };
    },
  );
}

const unescaped = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
