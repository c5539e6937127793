// The pages are put together by scripts/site, with the navigation from docs/README.md.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";
import { searchRank } from "../../../scripts/site/search-rank.ts";
import { slug } from "../../../scripts/site/slug.ts";

const staged = resolve(import.meta.dirname, "../dist");
const { base, nav, sidebar } = JSON.parse(readFileSync(resolve(staged, "theme.json"), "utf8")) as {
  base: string;
  nav: DefaultTheme.NavItem[];
  sidebar: DefaultTheme.Sidebar;
};

export default defineConfig({
  title: "Konverge",
  description: "Kubernetes operators in TypeScript, from one definition to a proven operator.",
  lang: "en-US",
  base,
  srcDir: resolve(staged, "pages"),
  cacheDir: resolve(staged, "cache"),
  outDir: resolve(import.meta.dirname, "../../../dist/site"),
  head: [
    ["link", { rel: "icon", href: `${base}logo.svg`, type: "image/svg+xml" }],
    ["meta", { name: "theme-color", content: "#0f766e" }],
  ],
  // The navigation is long: once for all pages instead of in each of them.
  metaChunk: true,
  // Pages of the API reference and the search index are larger than the 500 kB from which Vite warns.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  markdown: {
    anchor: { slugify: slug },
    // Only what is written as a link is one: `example.com/v1` is an API version.
    linkify: false,
    config(markdown) {
      markdown.core.ruler.disable("emoji");
      const { text, fence } = markdown.renderer.rules;
      markdown.renderer.rules.text = (...args) =>
        text!(...args)
          // Vue would evaluate it.
          .replaceAll("{{", "&#123;&#123;")
          .replaceAll(/\b\d{4}-\d{2}-\d{2}\b/g, '<span class="date">$&</span>');
      // The theme has no style for code that is only indented.
      markdown.renderer.rules.code_block = (tokens, i, ...rest) => {
        tokens[i]!.info = "text";
        return fence!(tokens, i, ...rest);
      };
    },
  },
  themeConfig: {
    logo: "/logo.svg",
    nav,
    sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        miniSearch: { searchOptions: { boostDocument: searchRank } },
        // Sources are found from the pages that name them. Highlighting, most of the time of a build, is not needed here.
        _render(source, env, markdown) {
          if (env.relativePath.startsWith("source/")) return "";
          const { highlight } = markdown.options;
          markdown.options.highlight = null;
          try {
            return markdown.render(source, env);
          } finally {
            markdown.options.highlight = highlight;
          }
        },
      },
    },
    footer: { message: "Apache-2.0" },
  },
});
