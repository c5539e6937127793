import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"001 Packages import in one direction only","description":"","frontmatter":{},"headers":[],"relativePath":"decisions/001-layers.md","filePath":"decisions/001-layers.md"}');
const _sfc_main = { name: "decisions/001-layers.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="001-packages-import-in-one-direction-only" tabindex="-1">001 Packages import in one direction only <a class="header-anchor" href="#001-packages-import-in-one-direction-only" aria-label="Permalink to &quot;001 Packages import in one direction only&quot;">​</a></h1><ul><li>Date: <span class="date">2026-11-16</span></li><li>Status: accepted</li></ul><h2 id="context" tabindex="-1">Context <a class="header-anchor" href="#context" aria-label="Permalink to &quot;Context&quot;">​</a></h2><p>A framework, an embedded cluster, a fault explorer and operators share one repository because each makes the next possible. Without import rules the test server would soon share the client&#39;s bugs, and operators would depend on internals of the framework.</p><h2 id="decision" tabindex="-1">Decision <a class="header-anchor" href="#decision" aria-label="Permalink to &quot;Decision&quot;">​</a></h2><div class="language-text vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>core ← kinds ← schema ← client ← runtime ← operators</span></span>
<span class="line"><span>               schema ← apiserver</span></span>
<span class="line"><span>                        apiserver + runtime ← cluster ← testing</span></span>
<span class="line"><span>core ← certificates ← runtime, apiserver, cluster</span></span>
<span class="line"><span>kinds ← sizing</span></span></code></pre></div><ul><li>Users install two packages: <code>konverge</code> (core, certificates, kinds, schema, client, runtime, sizing: what runs in production) and <code>@konverge/dev</code> (apiserver, cluster, testing). The folders under <code>packages/</code> are internal.</li><li>The root export of <code>konverge</code> holds only the values needed to write an operator, at most 60. Everything else is behind a subpath by theme, such as <code>konverge/sizing</code>. Inside a package, files import each other directly; folders have no index files, because those created import cycles and were bypassed anyway.</li><li>The API server imports neither client nor runtime, so that a bug in one cannot hide the same bug in the other. What both sides share (schemas, patches, structured merge) is tested against a real API server.</li><li>The built-in controllers of the embedded cluster are ordinary Konverge controllers.</li><li>Operators and examples import <code>konverge</code> and their own package, nothing else; their tests also import <code>@konverge/dev</code>. Code that several operators need moves into <code>konverge</code>. Pod problems (decision 019) and sizing (decision 041) used to be subpaths of the LLM operator&#39;s package, which operators outside this repository could not use.</li></ul><p><code>scripts/layering.ts</code> enforces these rules and is part of <code>npm run check</code>.</p><h2 id="consequences" tabindex="-1">Consequences <a class="header-anchor" href="#consequences" aria-label="Permalink to &quot;Consequences&quot;">​</a></h2><ul><li>A built-in controller that needs something the runtime cannot do reveals a gap that users would hit too.</li><li>The API server cannot call webhooks with our client; it takes a transport instead.</li><li><code>certificates</code> imports only <code>core</code>, because a production operator and the embedded API server both need it (decision 025).</li><li><code>sizing</code> imports neither client nor runtime: it is a model of load and replicas, not a part of every operator.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/001-layers.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _001Layers = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _001Layers as default
};
