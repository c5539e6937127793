import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Samples","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"source/operators/kubeflow/samples/index.md","filePath":"source/operators/kubeflow/samples/index.md"}');
const _sfc_main = { name: "source/operators/kubeflow/samples/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="samples" tabindex="-1">Samples <a class="header-anchor" href="#samples" aria-label="Permalink to &quot;Samples&quot;">​</a></h1><p><code>operators/kubeflow/samples</code>, part of <a href="/operators/kubeflow/">Kubeflow operator</a></p><ul><li><a href="/source/operators/kubeflow/samples/01-pytorchjob.yaml.html">01-pytorchjob.yaml</a></li><li><a href="/source/operators/kubeflow/samples/02-pytorchjob-elastic.yaml.html">02-pytorchjob-elastic.yaml</a></li><li><a href="/source/operators/kubeflow/samples/03-tfjob.yaml.html">03-tfjob.yaml</a></li><li><a href="/source/operators/kubeflow/samples/04-tfjob-ps.yaml.html">04-tfjob-ps.yaml</a></li><li><a href="/source/operators/kubeflow/samples/05-xgboostjob.yaml.html">05-xgboostjob.yaml</a></li><li><a href="/source/operators/kubeflow/samples/06-xgboostjob-workers.yaml.html">06-xgboostjob-workers.yaml</a></li><li><a href="/source/operators/kubeflow/samples/07-mxjob.yaml.html">07-mxjob.yaml</a></li><li><a href="/source/operators/kubeflow/samples/08-mxjob-dist.yaml.html">08-mxjob-dist.yaml</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/kubeflow/samples/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
