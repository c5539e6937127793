import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Src","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/kube-rs/src/index.md","filePath":"source/tools/peers/kube-rs/src/index.md"}');
const _sfc_main = { name: "source/tools/peers/kube-rs/src/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="src" tabindex="-1">Src <a class="header-anchor" href="#src" aria-label="Permalink to &quot;Src&quot;">​</a></h1><p><code>tools/peers/kube-rs/src</code></p><ul><li><a href="/source/tools/peers/kube-rs/src/lantern.rs.html">lantern.rs</a></li><li><a href="/source/tools/peers/kube-rs/src/main.rs.html">main.rs</a></li><li><a href="/source/tools/peers/kube-rs/src/reconcile.rs.html">reconcile.rs</a></li><li><a href="/source/tools/peers/kube-rs/src/streams.rs.html">streams.rs</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/kube-rs/src/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
