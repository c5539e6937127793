import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"017 Order the work queue by a rank that never changes","description":"","frontmatter":{},"headers":[],"relativePath":"decisions/017-queue-order.md","filePath":"decisions/017-queue-order.md"}');
const _sfc_main = { name: "decisions/017-queue-order.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="017-order-the-work-queue-by-a-rank-that-never-changes" tabindex="-1">017 Order the work queue by a rank that never changes <a class="header-anchor" href="#017-order-the-work-queue-by-a-rank-that-never-changes" aria-label="Permalink to &quot;017 Order the work queue by a rank that never changes&quot;">​</a></h1><ul><li>Date: <span class="date">2026-11-15</span></li><li>Status: accepted</li></ul><h2 id="context" tabindex="-1">Context <a class="header-anchor" href="#context" aria-label="Permalink to &quot;Context&quot;">​</a></h2><p>Fresh changes should not wait for thousands of keys from a listing, and those must not starve. A namespace with thousands of keys should not delay others. Priorities that rise while keys wait, and queues that take turns, need clocks and bookkeeping and are hard to reason about together.</p><h2 id="decision" tabindex="-1">Decision <a class="header-anchor" href="#decision" aria-label="Permalink to &quot;Decision&quot;">​</a></h2><p>Each key gets a rank when it is added, and the lowest rank is next. The rank is the time of arrival, adjusted by:</p><ul><li><strong>Priority</strong>, a head start: one step is worth <code>aging</code> (a minute). A low-priority key that has waited a minute ranks with a normal one that arrives now. This is aging without a clock: the order of two ranks never changes.</li><li><strong>Fairness</strong>, spacing: each key of a namespace that has keys of the same priority waiting ranks at least <code>fairness</code> (a second) after the previous one, so others go in between. A namespace without waiting keys has no history. A key that becomes more urgent while it waits moves up and never falls back.</li></ul><h2 id="consequences" tabindex="-1">Consequences <a class="header-anchor" href="#consequences" aria-label="Permalink to &quot;Consequences&quot;">​</a></h2><ul><li>The queue is a heap with constant ranks and two constants. Tests check two properties: no added key is lost, and no key waits longer than its head start and its own namespace account for.</li><li>Fairness across namespaces costs order within a second: a key of a busy namespace may come after a later one of an idle namespace, by design.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/017-queue-order.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _017QueueOrder = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _017QueueOrder as default
};
