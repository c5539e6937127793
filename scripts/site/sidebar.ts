// The navigation as the theme of VitePress takes it.
import type { StagedSection } from "./stage.ts";

/** More pages than that are folded up, if there are other groups. */
const MANY = 20;

export interface ThemeNavigation {
  readonly nav: { text: string; link: string; activeMatch: string }[];
  readonly sidebar: Record<string, SidebarGroup[]>;
}

interface SidebarGroup {
  readonly text?: string;
  readonly collapsed?: boolean;
  readonly items: { text: string; link: string }[];
}

/** Each section is an entry of the menu. Its sidebar is shown in all folders that its pages are in. */
export function themeNavigation(sections: readonly StagedSection[]): { theme: ThemeNavigation; problems: string[] } {
  const nav: ThemeNavigation["nav"] = [];
  const sidebar: ThemeNavigation["sidebar"] = {};
  const problems: string[] = [];
  for (const { title, groups } of sections) {
    const items = groups.map((group) => ({
      text: group.title,
      collapsed: group.pages.length > MANY && groups.length > 1 ? true : undefined,
      items: group.pages.map((page) => ({ text: page.title, link: page.link })),
    }));
    const links = items.flatMap((group) => group.items.map(({ link }) => link));
    const places = [...new Set(links.map(placeOf))];
    for (const place of places) {
      if (place in sidebar) problems.push(`pages in ${place} are in several sections, the last of which is ${title}`);
      sidebar[place] = items;
    }
    if (links.length > 0) nav.push({ text: title, link: links[0]!, activeMatch: `^(?:${places.join("|")})` });
  }
  return { theme: { nav, sidebar }, problems };
}

/** `/guide/concepts.md` is in `/guide/`; a page at the top is a separate place. */
const placeOf = (link: string) => /^\/[^/]+\//.exec(link)?.[0] ?? link.replace(/\.md$/, "");
