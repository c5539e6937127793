import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"bad-input.real.test.ts","description":"","frontmatter":{"aside":false,"pageClass":"source-page"},"headers":[],"relativePath":"source/operators/training/test/bad-input.real.test.ts.md","filePath":"source/operators/training/test/bad-input.real.test.ts.md"}');
const _sfc_main = { name: "source/operators/training/test/bad-input.real.test.ts.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="bad-inputrealtestts" tabindex="-1">bad-input.real.test.ts <a class="header-anchor" href="#bad-inputrealtestts" aria-label="Permalink to &quot;bad-input.real.test.ts&quot;">​</a></h1><p><code>operators/training/test/bad-input.real.test.ts</code>, part of <a href="/operators/training/">The training operator</a></p><div class="language-ts vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> { onEmptyCluster, onReal } </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;@konverge/operator-suite&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span>
<span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#005CC5;--shiki-dark:#79B8FF;"> *</span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;"> as</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> badInput </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;./bad-input-scenarios.ts&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#6F42C1;--shiki-dark:#B392F0;">onReal</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">({</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;jobs that make no sense are refused&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.nonsenseIsRefused,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a claim that does not exist is named&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.aClaimIsMissing,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a ConfigMap that does not exist is waited for, and followed&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.aConfigMapIsMissing,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a quota that is too small is named&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.aQuotaIsExceeded,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a type of GPU that no node has keeps a job from starting&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.anUnknownGpuType,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a size that no node has keeps a job from starting&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.anImpossibleSize,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;an image that cannot be pulled is named&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.anImageIsMissing,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;a pod of somebody else&#39;s is left alone&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: badInput.aNameIsTaken,</span></span>
<span class="line"><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;">  &quot;without nodes a job waits, and runs when one comes&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">: </span><span style="--shiki-light:#6F42C1;--shiki-dark:#B392F0;">onEmptyCluster</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">(badInput.thereAreNoNodes),</span></span>
<span class="line"><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">});</span></span></code></pre><div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br><span class="line-number">2</span><br><span class="line-number">3</span><br><span class="line-number">4</span><br><span class="line-number">5</span><br><span class="line-number">6</span><br><span class="line-number">7</span><br><span class="line-number">8</span><br><span class="line-number">9</span><br><span class="line-number">10</span><br><span class="line-number">11</span><br><span class="line-number">12</span><br><span class="line-number">13</span><br><span class="line-number">14</span><br></div></div></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/operators/training/test/bad-input.real.test.ts.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const badInput_real_test_ts = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  badInput_real_test_ts as default
};
