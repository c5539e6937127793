import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Kube-rs","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/kube-rs/index.md","filePath":"source/tools/peers/kube-rs/index.md"}');
const _sfc_main = { name: "source/tools/peers/kube-rs/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="kube-rs" tabindex="-1">Kube-rs <a class="header-anchor" href="#kube-rs" aria-label="Permalink to &quot;Kube-rs&quot;">​</a></h1><p><code>tools/peers/kube-rs</code></p><ul><li><a href="/source/tools/peers/kube-rs/Cargo.lock.html">Cargo.lock</a></li><li><a href="/source/tools/peers/kube-rs/Cargo.toml.html">Cargo.toml</a></li><li><a href="/source/tools/peers/kube-rs/src/">src/</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/kube-rs/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
