import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Monitoring","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/operators/kubeflow/monitoring/index.md","filePath":"source/operators/kubeflow/monitoring/index.md"}');
const _sfc_main = { name: "source/operators/kubeflow/monitoring/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="monitoring" tabindex="-1">Monitoring <a class="header-anchor" href="#monitoring" aria-label="Permalink to &quot;Monitoring&quot;">​</a></h1><p><code>operators/kubeflow/monitoring</code>, part of <a href="/operators/kubeflow/">Kubeflow operator</a></p><ul><li><a href="/source/operators/kubeflow/monitoring/alerts.yaml.html">alerts.yaml</a></li><li><a href="/source/operators/kubeflow/monitoring/dashboard.json.html">dashboard.json</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/kubeflow/monitoring/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
