import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"034 Renew node leases only while someone watches","description":"","frontmatter":{},"headers":[],"relativePath":"decisions/034-renew-node-leases-on-demand.md","filePath":"decisions/034-renew-node-leases-on-demand.md"}');
const _sfc_main = { name: "decisions/034-renew-node-leases-on-demand.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="034-renew-node-leases-only-while-someone-watches" tabindex="-1">034 Renew node leases only while someone watches <a class="header-anchor" href="#034-renew-node-leases-only-while-someone-watches" aria-label="Permalink to &quot;034 Renew node leases only while someone watches&quot;">​</a></h1><ul><li>Date: <span class="date">2026-11-15</span></li><li>Status: accepted</li></ul><h2 id="context" tabindex="-1">Context <a class="header-anchor" href="#context" aria-label="Permalink to &quot;Context&quot;">​</a></h2><p>Every node renews its Lease each ten seconds: with six nodes 51,840 writes a day, each with admission, field ownership, history and a watch event. On virtual time that was nearly the whole cost of an idle day (about 25 CPU seconds); on real time a thousand nodes kept a tenth of a core busy. The only reader was usually the node controller, in the same process.</p><h2 id="decision" tabindex="-1">Decision <a class="header-anchor" href="#decision" aria-label="Permalink to &quot;Decision&quot;">​</a></h2><ul><li>Nodes report to the node controller directly that they are alive (<code>NodePulse</code>). What the controller does about a silent node still follows the Lease: such a node renews its Lease one last time and is lost fifty seconds later.</li><li>Leases are renewed while a client reads them: before a request that reads them is answered, for five minutes after it, and as long as they are watched. Readers see what a real cluster shows.</li><li>Nodes created by other programs, which no kubelet here keeps alive, are judged by their Leases alone.</li></ul><h2 id="consequences" tabindex="-1">Consequences <a class="header-anchor" href="#consequences" aria-label="Permalink to &quot;Consequences&quot;">​</a></h2><ul><li>An idle day of virtual time costs hundredths of a second; an idle cluster writes nothing.</li><li>Code in the same process that reads through <code>server.transport</code> or <code>server.as</code> instead of the cluster&#39;s client or port may see outdated node Leases.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/034-renew-node-leases-on-demand.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _034RenewNodeLeasesOnDemand = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _034RenewNodeLeasesOnDemand as default
};
