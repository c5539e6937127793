import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"100 fresh clusters","description":"","frontmatter":{},"headers":[],"relativePath":"bench/results/fresh-clusters.md","filePath":"bench/results/fresh-clusters.md"}');
const _sfc_main = { name: "bench/results/fresh-clusters.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="100-fresh-clusters" tabindex="-1">100 fresh clusters <a class="header-anchor" href="#100-fresh-clusters" aria-label="Permalink to &quot;100 fresh clusters&quot;">​</a></h1><p><span class="date">2026-11-16</span>, 2 cores (Intel(R) Xeon(R) Processor), 24 GiB, Node 24.21.0, load average 5.</p><p>Each cluster starts, runs a Deployment with two pods until they are ready and then until it is idle, and stops, on virtual time, all in one process. CPU milliseconds per cluster; the first one (258 ms) also warms up the process.</p><table tabindex="0"><thead><tr><th>start</th><th>Deployment ready</th><th>idle</th><th>stop</th><th>total</th></tr></thead><tbody><tr><td>9.8</td><td>43.5</td><td>0.1</td><td>1.7</td><td>55.0</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/results/fresh-clusters.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const freshClusters = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  freshClusters as default
};
