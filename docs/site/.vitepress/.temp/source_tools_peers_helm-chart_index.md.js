import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Helm-chart","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/tools/peers/helm-chart/index.md","filePath":"source/tools/peers/helm-chart/index.md"}');
const _sfc_main = { name: "source/tools/peers/helm-chart/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="helm-chart" tabindex="-1">Helm-chart <a class="header-anchor" href="#helm-chart" aria-label="Permalink to &quot;Helm-chart&quot;">​</a></h1><p><code>tools/peers/helm-chart</code></p><ul><li><a href="/source/tools/peers/helm-chart/Chart.yaml.html">Chart.yaml</a></li><li><a href="/source/tools/peers/helm-chart/crds/">crds/</a></li><li><a href="/source/tools/peers/helm-chart/templates/">templates/</a></li><li><a href="/source/tools/peers/helm-chart/values.yaml.html">values.yaml</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/helm-chart/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
