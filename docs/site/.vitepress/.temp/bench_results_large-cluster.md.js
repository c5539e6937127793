import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"1000 nodes, 20000 pods","description":"","frontmatter":{},"headers":[],"relativePath":"bench/results/large-cluster.md","filePath":"bench/results/large-cluster.md"}');
const _sfc_main = { name: "bench/results/large-cluster.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="1000-nodes-20000-pods" tabindex="-1">1000 nodes, 20000 pods <a class="header-anchor" href="#1000-nodes-20000-pods" aria-label="Permalink to &quot;1000 nodes, 20000 pods&quot;">​</a></h1><p><span class="date">2026-11-16</span>, 2 cores (Intel(R) Xeon(R) Processor), 24 GiB, Node 24.21.0, load average 4.</p><p>Time from the first pod (50 are created at a time) until the last one runs, or &quot;-&quot; if it did not within 9 minutes. CPU and memory are the totals of all control plane and node processes, without the program that creates the pods. The real control plane is etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK, with client limits of 1,000 requests a second. The embedded cluster also writes the three events that a kubelet emits per pod; KWOK writes none.</p><table tabindex="0"><thead><tr><th></th><th>nodes ready s</th><th>pods created s</th><th>all running s</th><th>running</th><th>CPU s</th><th>CPU ms per running pod</th><th>peak MiB</th></tr></thead><tbody><tr><td>embedded</td><td>2.4</td><td>65.7</td><td>112.5</td><td>20000</td><td>91</td><td>4.6</td><td>1138</td></tr><tr><td>real + KWOK</td><td>31.7</td><td>157.7</td><td>269.7</td><td>20000</td><td>564</td><td>28.2</td><td>3180</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/results/large-cluster.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const largeCluster = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  largeCluster as default
};
