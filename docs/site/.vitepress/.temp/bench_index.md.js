import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Benchmarks","description":"","frontmatter":{},"headers":[],"relativePath":"bench/index.md","filePath":"bench/index.md"}');
const _sfc_main = { name: "bench/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="benchmarks" tabindex="-1">Benchmarks <a class="header-anchor" href="#benchmarks" aria-label="Permalink to &quot;Benchmarks&quot;">​</a></h1><p>Each benchmark compares Konverge with what people use today, in one run on one machine. Results are dated files in <a href="/bench/results/">results</a>.</p><table tabindex="0"><thead><tr><th>command</th><th>what it measures</th></tr></thead><tbody><tr><td><code>node bench/operator/run.ts</code></td><td>an operator compared with the same one on controller-runtime, on a real API server: time, CPU, memory, requests</td></tr><tr><td><code>node bench/cluster/large-cluster.ts</code></td><td>1,000 nodes and 20,000 pods, compared with a real control plane with KWOK</td></tr><tr><td><code>node bench/cluster/fresh-clusters.ts</code></td><td>what a fresh cluster costs a test</td></tr><tr><td><code>node bench/cluster/envtest-suite.ts</code></td><td>a Go suite on <code>konverge envtest</code>, compared with the real envtest binaries</td></tr><tr><td><code>node bench/cluster/virtual-day.ts</code></td><td>what a day of virtual time costs, and that the same seed gives the same day</td></tr><tr><td><code>node bench/apiserver/run.ts</code></td><td>the embedded API server compared with kube-apiserver</td></tr><tr><td><code>node bench/client-http/run.ts</code></td><td>the client&#39;s transport</td></tr><tr><td><code>node bench/client-memory/run.ts</code></td><td>the memory of a process that imports a client</td></tr></tbody></table><p>Run them from the root of the repository. The operator benchmark takes five to ten minutes on an idle machine with two cores, most of it to create the 100,000 objects. <code>--cached 0</code> skips those; <code>--objects 0 --result operator-memory</code> runs only those.</p><p>They use a real control plane if it has been built (<code>npm run real:build</code>) and report it if not. On a shared machine, wall times mean little; ratios within one run mean more.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
