import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Results","description":"","frontmatter":{"aside":false},"headers":[],"relativePath":"bench/results/index.md","filePath":"bench/results/index.md"}');
const _sfc_main = { name: "bench/results/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="results" tabindex="-1">Results <a class="header-anchor" href="#results" aria-label="Permalink to &quot;Results&quot;">​</a></h1><p><code>bench/results</code>, part of <a href="/bench/">Benchmarks</a></p><ul><li><a href="/bench/results/apiserver.html">The embedded API server compared with etcd + kube-apiserver</a></li><li><a href="/bench/results/envtest-suite.html">An envtest suite in Go</a></li><li><a href="/bench/results/fresh-clusters.html">100 fresh clusters</a></li><li><a href="/bench/results/large-cluster.html">1000 nodes, 20000 pods</a></li><li><a href="/bench/results/operator.html">An operator compared with controller-runtime</a></li><li><a href="/bench/results/virtual-day.html">A day of virtual time</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/results/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
