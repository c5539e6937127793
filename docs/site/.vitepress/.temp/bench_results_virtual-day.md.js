import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"A day of virtual time","description":"","frontmatter":{},"headers":[],"relativePath":"bench/results/virtual-day.md","filePath":"bench/results/virtual-day.md"}');
const _sfc_main = { name: "bench/results/virtual-day.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="a-day-of-virtual-time" tabindex="-1">A day of virtual time <a class="header-anchor" href="#a-day-of-virtual-time" aria-label="Permalink to &quot;A day of virtual time&quot;">​</a></h1><p><span class="date">2026-11-16</span>, 2 cores (Intel(R) Xeon(R) Processor), 24 GiB, Node 24.21.0, load average 4.</p><p>Three runs in one process; the first (cold code) and the third are shown. The log digest covers every stored state of every Event, Pod, Job and CronJob; the first and the third run have the same seed and must have the same digest.</p><table tabindex="0"><thead><tr><th></th><th>first s</th><th>first CPU s</th><th>third s</th><th>third CPU s</th><th>changes</th><th>CPU µs per change</th><th>log digests</th></tr></thead><tbody><tr><td>busy: CronJobs every 30 and 60 minutes, the latter failing three times each, TTLs, a pod that crashes every 10 minutes</td><td>2.35</td><td>3.04</td><td>2.15</td><td>2.60</td><td>3612</td><td>720</td><td>69c7d1af72c5 69c7d1af72c5</td></tr><tr><td>ordinary: an hourly CronJob with a TTL, a nightly one that fails and backs off six times, a pod that crashes every hour</td><td>0.48</td><td>0.57</td><td>0.32</td><td>0.40</td><td>1012</td><td>394</td><td>42529c651395 42529c651395</td></tr><tr><td>idle: three nodes, three pods</td><td>0.00</td><td>0.00</td><td>0.00</td><td>0.00</td><td>18</td><td>6</td><td>b7d3ffdcf1f7 b7d3ffdcf1f7</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("bench/results/virtual-day.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const virtualDay = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  virtualDay as default
};
