import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"An envtest suite in Go","description":"","frontmatter":{},"headers":[],"relativePath":"bench/results/envtest-suite.md","filePath":"bench/results/envtest-suite.md"}');
const _sfc_main = { name: "bench/results/envtest-suite.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="an-envtest-suite-in-go" tabindex="-1">An envtest suite in Go <a class="header-anchor" href="#an-envtest-suite-in-go" aria-label="Permalink to &quot;An envtest suite in Go&quot;">​</a></h1><p><span class="date">2026-11-16</span>, 2 cores (Intel(R) Xeon(R) Processor), 24 GiB, Node 24.21.0, load average 17.</p><p>The suite of packages/cluster/test/envtest-go, compiled once, run 5 times with each, alternating; medians.</p><table tabindex="0"><thead><tr><th></th><th>konverge envtest</th><th>kube-apiserver and etcd</th><th>ratio</th></tr></thead><tbody><tr><td>environment started, s</td><td>1.29</td><td>3.19</td><td>2.5</td></tr><tr><td>whole suite, s</td><td>1.50</td><td>6.39</td><td>4.3</td></tr><tr><td>CPU of the whole suite, s</td><td>1.67</td><td>2.58</td><td>1.5</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/results/envtest-suite.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const envtestSuite = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  envtestSuite as default
};
