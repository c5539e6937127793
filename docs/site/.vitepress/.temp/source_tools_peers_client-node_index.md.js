import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Client-node","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/client-node/index.md","filePath":"source/tools/peers/client-node/index.md"}');
const _sfc_main = { name: "source/tools/peers/client-node/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="client-node" tabindex="-1">Client-node <a class="header-anchor" href="#client-node" aria-label="Permalink to &quot;Client-node&quot;">​</a></h1><p><code>tools/peers/client-node</code></p><ul><li><a href="/source/tools/peers/client-node/package-lock.json.html">package-lock.json</a></li><li><a href="/source/tools/peers/client-node/package.json.html">package.json</a></li><li><a href="/source/tools/peers/client-node/program.mjs.html">program.mjs</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/client-node/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
