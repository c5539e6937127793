import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Templates","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/helm-chart/templates/index.md","filePath":"source/tools/peers/helm-chart/templates/index.md"}');
const _sfc_main = { name: "source/tools/peers/helm-chart/templates/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="templates" tabindex="-1">Templates <a class="header-anchor" href="#templates" aria-label="Permalink to &quot;Templates&quot;">​</a></h1><p><code>tools/peers/helm-chart/templates</code></p><ul><li><a href="/source/tools/peers/helm-chart/templates/NOTES.txt.html">NOTES.txt</a></li><li><a href="/source/tools/peers/helm-chart/templates/_names.tpl.html">_names.tpl</a></li><li><a href="/source/tools/peers/helm-chart/templates/hooks.yaml.html">hooks.yaml</a></li><li><a href="/source/tools/peers/helm-chart/templates/settings.yaml.html">settings.yaml</a></li><li><a href="/source/tools/peers/helm-chart/templates/workload.yaml.html">workload.yaml</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/helm-chart/templates/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
