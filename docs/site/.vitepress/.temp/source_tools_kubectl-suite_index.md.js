import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Kubectl-suite","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/kubectl-suite/index.md","filePath":"source/tools/kubectl-suite/index.md"}');
const _sfc_main = { name: "source/tools/kubectl-suite/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="kubectl-suite" tabindex="-1">Kubectl-suite <a class="header-anchor" href="#kubectl-suite" aria-label="Permalink to &quot;Kubectl-suite&quot;">​</a></h1><p><code>tools/kubectl-suite</code></p><ul><li><a href="/source/tools/kubectl-suite/index.ts.html">index.ts</a></li><li><a href="/source/tools/kubectl-suite/normalise.test.ts.html">normalise.test.ts</a></li><li><a href="/source/tools/kubectl-suite/normalise.ts.html">normalise.ts</a></li><li><a href="/source/tools/kubectl-suite/objects.real.test.ts.html">objects.real.test.ts</a></li><li><a href="/source/tools/kubectl-suite/package.json.html">package.json</a></li><li><a href="/source/tools/kubectl-suite/play.ts.html">play.ts</a></li><li><a href="/source/tools/kubectl-suite/proxied.ts.html">proxied.ts</a></li><li><a href="/source/tools/kubectl-suite/servers.ts.html">servers.ts</a></li><li><a href="/source/tools/kubectl-suite/session.ts.html">session.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/">stories/</a></li><li><a href="/source/tools/kubectl-suite/story.ts.html">story.ts</a></li><li><a href="/source/tools/kubectl-suite/watched.ts.html">watched.ts</a></li><li><a href="/source/tools/kubectl-suite/workloads.real.test.ts.html">workloads.real.test.ts</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/kubectl-suite/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
