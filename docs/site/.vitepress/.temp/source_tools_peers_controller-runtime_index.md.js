import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Controller-runtime","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/controller-runtime/index.md","filePath":"source/tools/peers/controller-runtime/index.md"}');
const _sfc_main = { name: "source/tools/peers/controller-runtime/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="controller-runtime" tabindex="-1">Controller-runtime <a class="header-anchor" href="#controller-runtime" aria-label="Permalink to &quot;Controller-runtime&quot;">​</a></h1><p><code>tools/peers/controller-runtime</code></p><ul><li><a href="/source/tools/peers/controller-runtime/go.mod.html">go.mod</a></li><li><a href="/source/tools/peers/controller-runtime/go.sum.html">go.sum</a></li><li><a href="/source/tools/peers/controller-runtime/main.go.html">main.go</a></li><li><a href="/source/tools/peers/controller-runtime/reconciler.go.html">reconciler.go</a></li><li><a href="/source/tools/peers/controller-runtime/types.go.html">types.go</a></li><li><a href="/source/tools/peers/controller-runtime/webhooks.go.html">webhooks.go</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/controller-runtime/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
