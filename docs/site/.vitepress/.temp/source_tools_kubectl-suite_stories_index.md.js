import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Stories","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/kubectl-suite/stories/index.md","filePath":"source/tools/kubectl-suite/stories/index.md"}');
const _sfc_main = { name: "source/tools/kubectl-suite/stories/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="stories" tabindex="-1">Stories <a class="header-anchor" href="#stories" aria-label="Permalink to &quot;Stories&quot;">​</a></h1><p><code>tools/kubectl-suite/stories</code></p><ul><li><a href="/source/tools/kubectl-suite/stories/apply.ts.html">apply.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/changes.ts.html">changes.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/cluster.ts.html">cluster.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/creation.ts.html">creation.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/custom.ts.html">custom.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/descriptions.ts.html">descriptions.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/manifests.ts.html">manifests.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/reading.ts.html">reading.ts</a></li><li><a href="/source/tools/kubectl-suite/stories/workloads.ts.html">workloads.ts</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/kubectl-suite/stories/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
