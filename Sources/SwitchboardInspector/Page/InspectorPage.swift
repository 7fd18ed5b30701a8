/// The page: one document without references to others. Its texts come from strangers, so its script makes text nodes of
/// them. The server adds a nonce to the style and to the script.
// swift-format-ignore
package let inspectorPage = ##"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Switchboard Inspector</title>
<link rel="icon" href="data:,">
<style>
:root {
  color-scheme: light dark;
  --back: #ffffff; --raised: #f5f6f8; --hover: #eef1f5; --chosen: #e2ecfd; --line: #dcdfe4; --edge: #878d96;
  --text: #1c1e21; --quiet: #5a6069; --accent: #0b57d0; --good: #146c2e; --warn: #7d4e00; --bad: #b3261e;
  --bad-back: #fdeeec; --key: #6b2fa0; --string: #0f5d33; --number: #0b4fb8;
  --queue: #9aa1ab; --dns: #00838f; --connect: #c26401; --tls: #8e44ad; --send: #607d9b; --wait: #2e9d52;
  --receive: #2f78e0;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #1a1b1e; --raised: #222428; --hover: #2a2d32; --chosen: #233754; --line: #363a41; --edge: #7f8792;
    --text: #e7e8ea; --quiet: #a9afb9; --accent: #8ab4f8; --good: #7fd69a; --warn: #f2bd5c; --bad: #ff9c92;
    --bad-back: #3a2422; --key: #d2a8ff; --string: #8fdcaa; --number: #9cc4ff;
    --queue: #7d848f; --dns: #3fc1cb; --connect: #f09a46; --tls: #c58be0; --send: #8fa9c4; --wait: #57c47b;
    --receive: #6ea8ff;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body {
  display: flex; flex-direction: column; background: var(--back); color: var(--text); font: 13px/1.45 var(--sans);
  overflow: hidden;
}
h1, h2, h3, p, pre, table, ul { margin: 0; padding: 0; font: inherit; }
button, input, select { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.mono { font-family: var(--mono); font-size: 12px; }
.quiet { color: var(--quiet); }
.control {
  font: 10px/1 var(--mono); color: var(--bad); border: 1px solid currentColor; border-radius: 3px; padding: 0 2px;
  margin: 0 1px; unicode-bidi: isolate;
}

/* The bar */
.bar {
  display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 7px 12px; background: var(--raised);
  border-bottom: 1px solid var(--line);
}
.bar h1 { font-weight: 600; white-space: nowrap; }
.bar h1 span { font-weight: 400; color: var(--quiet); }
.connection { display: flex; align-items: center; gap: 6px; color: var(--quiet); white-space: nowrap; }
.connection i { width: 8px; height: 8px; border-radius: 50%; border: 2px solid var(--warn); }
.connection[data-state=live] i { border-color: var(--good); background: var(--good); }
.connection[data-state=lost] i { border-color: var(--bad); border-radius: 0; }
.filters { display: flex; flex: 1 1 420px; flex-wrap: wrap; gap: 6px; min-width: 0; }
.filters input { flex: 1 1 160px; min-width: 0; }
.actions { display: flex; gap: 6px; }
.button, select, input[type=search] {
  height: 28px; padding: 0 10px; border: 1px solid var(--edge); border-radius: 6px; background: var(--back);
  color: var(--text);
  display: inline-flex; align-items: center; gap: 5px; text-decoration: none; white-space: nowrap; min-width: 0;
}
select { padding: 0 4px; max-width: 100%; }
.filters select { max-width: 116px; }
.button { cursor: pointer; }
.button:hover, select:hover { background: var(--hover); }
.button[aria-pressed=true] { background: var(--chosen); border-color: var(--accent); font-weight: 600; }
.button[aria-pressed=true]::before { content: "✓"; }
.button.plain { border-color: transparent; background: none; }
.button.plain:hover { background: var(--hover); }
.button.small { height: 24px; padding: 0 8px; font-size: 12px; }

/* The list of calls */
main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 1fr); position: relative; }
main.open { grid-template-columns: minmax(0, 44fr) minmax(0, 56fr); }
.list { position: relative; min-height: 0; min-width: 0; display: flex; }
.grid { flex: 1; min-width: 0; overflow: auto; overflow-anchor: none; position: relative; }
.grid:focus-visible { outline-offset: -2px; }
.columns { position: sticky; top: 0; z-index: 1; background: var(--raised); border-bottom: 1px solid var(--line); }
.columns .row { height: 29px; color: var(--quiet); cursor: default; }
.columns button {
  all: unset; cursor: pointer; display: block; width: 100%; line-height: 28px; overflow: hidden;
  text-overflow: ellipsis;
}
.columns button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.columns button:hover { color: var(--text); }
.columns [aria-sort] button { color: var(--text); font-weight: 600; }
.columns [aria-sort=ascending] button::after { content: " ↑"; }
.columns [aria-sort=descending] button::after { content: " ↓"; }
.rows { position: relative; contain: layout style; }
.row {
  display: grid; grid-template-columns: 92px 74px minmax(120px, 3fr) minmax(80px, 1.3fr) 92px 64px 78px 78px;
  column-gap: 8px; align-items: center; padding: 0 12px; height: 30px; white-space: nowrap; cursor: default;
}
.row > * { overflow: hidden; text-overflow: ellipsis; min-width: 0; unicode-bidi: isolate; }
.rows .row {
  position: absolute; left: 0; right: 0; top: 0; border-bottom: 1px solid var(--line);
  border-left: 3px solid transparent; padding-left: 9px;
}
.rows .row:hover { background: var(--hover); }
.rows .row[aria-selected=true] { background: var(--chosen); border-left-color: var(--accent); }
.status { font-variant-numeric: tabular-nums; font-weight: 600; }
.ok { color: var(--good); } .moved { color: var(--accent); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.method { font-family: var(--mono); font-size: 12px; }
.host, .size, .time, .tries { color: var(--quiet); }
.size, .time { text-align: end; font-variant-numeric: tabular-nums; }
.row .time { color: var(--text); }
.tries { font-variant-numeric: tabular-nums; }
.tries.several { color: var(--warn); font-weight: 600; }
.pill {
  display: inline-block; padding: 0 6px; border: 1px solid var(--edge); border-radius: 9px; font-size: 11px;
  line-height: 16px; vertical-align: 1px; color: var(--text);
}
.source { color: var(--quiet); }
.compact .columns { display: none; }
.compact .rows .row {
  height: 50px; grid-template-columns: 84px minmax(0, 1fr) auto auto auto; grid-template-rows: 21px 19px;
  align-content: center;
  grid-template-areas: "status path path path time" "method host source tries size";
}
.compact .status { grid-area: status; } .compact .method { grid-area: method; } .compact .path { grid-area: path; }
.compact .host { grid-area: host; } .compact .source { grid-area: source; } .compact .tries { grid-area: tries; }
.compact .size { grid-area: size; } .compact .time { grid-area: time; }
.compact .source:has(.plain), .compact .tries:not(.several) { display: none; }
.empty {
  position: absolute; inset: 30px 0 auto; padding: 15vh 24px 0; text-align: center; color: var(--quiet);
  pointer-events: none;
}
.empty .button { pointer-events: auto; margin-top: 10px; }
.empty b { display: block; color: var(--text); font-size: 15px; font-weight: 600; margin-bottom: 4px; }
kbd { font: 11px var(--mono); border: 1px solid var(--edge); border-radius: 4px; padding: 0 5px; color: var(--text); }
#notice { color: var(--text); } #keys { margin-left: auto; }
.counts {
  display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 4px 12px; background: var(--raised);
  border-top: 1px solid var(--line); color: var(--quiet); font-variant-numeric: tabular-nums;
}

/* The detail of a call */
.detail {
  min-width: 0; min-height: 0; display: flex; flex-direction: column; border-left: 1px solid var(--line);
  background: var(--back); container-type: inline-size;
}
.title { padding: 9px 12px 8px; display: grid; gap: 5px; }
.title > div { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 10px; }
.title .plain { order: 9; }
.copies { display: flex; gap: 6px; }
.title h2 {
  display: flex; gap: 10px; font-weight: 600; margin-right: auto; align-items: baseline; outline-offset: 3px;
}
.address {
  font-family: var(--mono); font-size: 12px; overflow-wrap: anywhere; max-height: 6.2em; overflow: auto;
  unicode-bidi: plaintext;
}
.facts { color: var(--quiet); display: flex; flex-wrap: wrap; gap: 0 14px; }
.fault {
  margin: 0 12px 8px; padding: 7px 10px; background: var(--bad-back); border-left: 3px solid var(--bad);
  border-radius: 4px; max-height: 34vh; overflow: auto;
}
.fault summary { overflow-wrap: anywhere; cursor: pointer; }
.fault pre { margin-top: 6px; }
.tabs {
  display: flex; gap: 2px; padding: 0 8px; border-bottom: 1px solid var(--line); overflow-x: auto; flex: none;
  scrollbar-width: none;
}
.tabs button {
  all: unset; cursor: pointer; padding: 6px 10px; color: var(--quiet); border-bottom: 2px solid transparent;
  white-space: nowrap;
}
.tabs button:hover { color: var(--text); }
.tabs button[aria-selected=true] { color: var(--text); font-weight: 600; border-bottom-color: var(--accent); }
.tabs button:focus-visible { outline: 2px solid var(--accent); outline-offset: -3px; border-radius: 6px; }
.panel { flex: 1; min-height: 0; overflow: auto; padding: 10px 12px 24px; }
.panel > * + * { margin-top: 10px; }
.note { color: var(--quiet); overflow-wrap: anywhere; }
pre {
  font: 12px/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; tab-size: 4;
}
.fold > summary { cursor: pointer; font-weight: 600; padding: 2px 0; }
.fold > summary span { font-weight: 400; color: var(--quiet); margin-left: 6px; }
.fields { border-collapse: collapse; width: 100%; font: 12px/1.5 var(--mono); }
.fields th, .fields td {
  text-align: start; vertical-align: top; padding: 2px 0; overflow-wrap: anywhere; border-top: 1px solid var(--line);
  unicode-bidi: plaintext;
}
.fields th { font-weight: 600; width: 34%; padding-right: 12px; color: var(--quiet); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 4px 0 6px; }
.picture { max-width: 100%; max-height: 60vh; display: block; border: 1px solid var(--line);
  background: repeating-conic-gradient(var(--hover) 0 25%, transparent 0 50%) 0 0 / 16px 16px; }

/* Trees: the timeline and JSON */
.tree { font-variant-numeric: tabular-nums; }
.item {
  display: grid; grid-template-columns: 16px minmax(0, 1fr); align-items: baseline; border-radius: 4px; cursor: default;
  padding: 1px 4px 1px var(--indent); scroll-margin: 20px;
}
.item:hover { background: var(--hover); }
.item:focus-visible { outline-offset: -2px; }
.item::before { content: ""; color: var(--quiet); text-align: center; }
.item[aria-expanded]::before { content: "▸"; }
.item[aria-expanded=true]::before { content: "▾"; }
.json .item { font: 12px/1.5 var(--mono); overflow-wrap: anywhere; unicode-bidi: plaintext; }
.json .name { color: var(--key); } .json .string { color: var(--string); white-space: pre-wrap; }
.json .number { color: var(--number); }
.json .word { color: var(--warn); }
.more { color: var(--accent); text-decoration: underline; cursor: pointer; }
.timeline .item { padding-block: 4px; border-top: 1px solid var(--line); border-radius: 0; }
.moment { display: grid; grid-template-columns: minmax(0, 1fr) 68px; gap: 0 10px; align-items: baseline; }
.moment .text { overflow-wrap: anywhere; }
.moment .kind { color: var(--quiet); margin-right: 6px; }
.moment b { font-weight: 600; }
.moment .length { text-align: end; color: var(--quiet); white-space: nowrap; }
.track {
  grid-column: 1 / -1; position: relative; height: 10px; margin: 3px 0 0 calc(-16px - var(--indent)); border-radius: 2px;
  background: var(--raised); overflow: hidden;
}
.track i { position: absolute; top: 1px; bottom: 1px; min-width: 2px; border-radius: 1px; background: var(--queue); }
.track i.tick { width: 2px; min-width: 0; background: var(--text); top: 0; bottom: 0; }
.track i.span { background: none; border: 1px solid var(--edge); }
.track i.pause { background: repeating-linear-gradient(135deg, var(--warn) 0 2px, transparent 2px 5px); }
.track .DNS { background: var(--dns); } .track .connect { background: var(--connect); }
.track .TLS { background: var(--tls); }
.track .send { background: var(--send); } .track .wait { background: var(--wait); }
.track .receive { background: var(--receive); }
@container (min-width: 560px) {
  .moment { grid-template-columns: minmax(0, 1fr) 68px 42cqw; }
  .track { grid-column: auto; height: 14px; margin: 0; align-self: center; }
}

/* Messages */
.messages { display: flex; flex-direction: column; padding: 0; }
.messages .grid { min-height: 80px; }
.messages .rows .row { height: 28px; grid-template-columns: 78px 96px minmax(0, 1fr) 68px; }
.messages .message {
  flex: 0 1 45%; min-height: 60px; overflow: auto; border-top: 1px solid var(--line); padding: 8px 12px; margin: 0;
}
.messages .tools { padding: 6px 12px 0; }
@container (max-width: 480px) {
  .messages .rows .row { grid-template-columns: 54px 12px minmax(0, 1fr) 50px; column-gap: 6px; }
  .messages .rows .row .wide { display: none; }
}

@media (max-width: 760px) {
  main.open { grid-template-columns: minmax(0, 1fr); }
  .detail { position: absolute; inset: 0; border-left: 0; z-index: 2; }
  .bar { padding: 6px 8px; gap: 6px; }
  .bar h1 span, .wide { display: none; }
  .connection { margin-right: auto; }
  .filters { order: 3; flex-basis: 100%; }
  .filters input { flex-basis: 100%; }
  .filters select, .filters .button { flex: 1 1 0; justify-content: center; }
  .filters .button { flex-grow: .6; }
  .button, select, input[type=search] { height: 32px; padding: 0 7px; }
  .rows .row { padding-right: 8px; }
  .filters select { max-width: none; }
  .title .plain { order: 0; margin-left: -6px; }
  #keys { display: none; }
}
@media (forced-colors: active) {
  .track, .track i { border: 1px solid CanvasText; }
  .rows .row[aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px; }
}
.dropping::after {
  content: "Drop to open the HAR file"; position: fixed; inset: 8px; z-index: 9; display: grid; place-items: center;
  border: 3px dashed var(--accent); border-radius: 10px; font-size: 18px; pointer-events: none;
  background: color-mix(in srgb, var(--back) 85%, transparent);
}
</style>
</head>
<body>
<header class="bar">
  <h1>Switchboard <span>Inspector</span></h1>
  <p class="connection" id="connection" data-state="connecting"><i aria-hidden="true"></i><span>Connecting</span></p>
  <div class="filters" role="search" aria-label="Filter of the calls">
    <input id="search" type="search" placeholder="Search: words of URL, status, error" aria-label="Search calls"
      aria-keyshortcuts="/" autocomplete="off" spellcheck="false">
    <select id="method" aria-label="Method"><option value="">Method</option></select>
    <select id="status" aria-label="Status">
      <option value="">Status</option>
      <option>1xx</option><option>2xx</option><option>3xx</option><option>4xx</option><option>5xx</option>
      <option value="none">none</option><option value="running">running</option>
    </select>
    <select id="source" aria-label="Source">
      <option value="">Source</option>
      <option>network</option><option>cache</option><option>stale</option><option>revalidated</option>
      <option>stub</option><option>shared</option><option>imported</option>
    </select>
    <button id="failed" class="button" type="button" aria-pressed="false">Failed</button>
  </div>
  <div class="actions">
    <button id="clear" class="button" type="button">Clear</button>
    <a id="save" class="button" href="har" download="switchboard.har">Save<span class="wide">HAR</span></a>
    <button id="open" class="button" type="button">Open<span class="wide">HAR</span></button>
    <input id="file" type="file" accept=".har,.json,application/json" hidden aria-label="HAR file">
  </div>
</header>
<main id="main">
  <div class="list" id="list">
    <div class="grid" id="calls" role="grid" aria-label="Calls" aria-rowcount="1" aria-colcount="8" tabindex="0">
      <div class="columns" role="rowgroup">
        <div class="row" role="row" aria-rowindex="1">
          <div role="columnheader"><button type="button" data-by="status">Status</button></div>
          <div role="columnheader"><button type="button" data-by="method">Method</button></div>
          <div role="columnheader"><button type="button" data-by="path">Path</button></div>
          <div role="columnheader"><button type="button" data-by="host">Host</button></div>
          <div role="columnheader"><button type="button" data-by="source">Source</button></div>
          <div role="columnheader"><button type="button" data-by="attempts">Attempts</button></div>
          <div role="columnheader" class="size"><button type="button" data-by="size">Size</button></div>
          <div role="columnheader" class="time"><button type="button" data-by="duration">Time</button></div>
        </div>
      </div>
      <div class="rows" id="rows" role="rowgroup"></div>
    </div>
    <div class="empty" id="empty"></div>
  </div>
  <section class="detail" id="detail" aria-label="Chosen call" hidden>
    <div id="head"></div>
    <div class="panel" id="panel" role="tabpanel" tabindex="0"></div>
  </section>
</main>
<footer class="counts">
  <span id="count">No calls</span>
  <span id="notice"></span>
  <span id="keys">
    <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> open, <kbd>Esc</kbd> close, <kbd>/</kbd> search
  </span>
</footer>
<p class="unseen" id="announcement" role="status"></p>
<script>
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // MARK: Text of strangers. A server chose URLs, fields, bodies and errors, so they become text nodes only.

  // Controls, bidirectional overrides, characters without a width, half surrogates.
  const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0]/gu;
  const codePoint = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  /** Returns at most `length` characters, without half a surrogate pair. */
  const cut = (text, length) =>
    text.length > length ? text.slice(0, length).replace(/[\ud800-\udbff]$/, "") + "…" : text;
  /** Returns text for an attribute: characters that nobody sees become code points. */
  const plain = (text, length = 300) => visible(cut(String(text), length));
  /** Returns text with the code points of characters that nobody sees. `lines` keeps line breaks and tabs. */
  const visible = (text, lines = false) => text.replace(
    HIDDEN, (found, index) => lines && isLayout(text, index) ? found : "⟨" + codePoint(found) + "⟩");
  const isLayout = (text, index) =>
    text[index] === "\n" || text[index] === "\t" || (text[index] === "\r" && text[index + 1] === "\n");

  /** Appends text. Characters that nobody sees become code points, the first 500 marked. `lines` keeps line breaks and tabs. */
  function write(element, text, lines = false) {
    let start = 0, marks = 500;
    for (const { 0: found, index } of text.matchAll(HIDDEN)) {
      if (lines && isLayout(text, index)) continue;
      if (index > start) element.append(text.slice(start, index));
      start = index;
      if (--marks < 0) { element.append(visible(text.slice(start), lines)); return element; }
      start += found.length;
      const mark = document.createElement("span");
      mark.className = "control";
      mark.textContent = codePoint(found);
      element.append(mark);
    }
    if (start < text.length) element.append(start ? text.slice(start) : text);
    return element;
  }

  /** Creates an element. `properties` are attributes and listeners of this page. Strings in `children` become text. */
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined || value === null || value === false) continue;
      if (typeof value === "function") element.addEventListener(name, value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (typeof child === "string") write(element, child);
      else if (child) element.append(child);
    }
    return element;
  }
  const button = (text, click, properties = {}) =>
    make("button", { type: "button", class: "button small", click, ...properties }, text);
  const note = (text) => make("p", { class: "note" }, text);

  // MARK: Numbers

  function time(milliseconds) {
    if (!Number.isFinite(milliseconds)) return "";
    if (milliseconds < 9.95) return `${Math.round(milliseconds * 10) / 10} ms`;
    if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
    if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`;
    const minutes = Math.floor(Math.round(milliseconds / 1000) / 60);
    return `${minutes} min ${Math.round(milliseconds / 1000) % 60} s`;
  }
  function bytes(count) {
    if (!Number.isFinite(count)) return "";
    if (count < 1000) return `${count} B`;
    if (count < 999_500) return `${(count / 1e3).toPrecision(3)} kB`;
    return count < 999_500_000 ? `${(count / 1e6).toPrecision(3)} MB` : `${(count / 1e9).toFixed(2)} GB`;
  }
  const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  function clock(started) {
    const date = new Date(started);
    if (!Number.isFinite(started) || Number.isNaN(date.getTime())) return "";
    const padded = (number, length = 2) => String(number).padStart(length, "0");
    const seconds = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => padded(part)).join(":");
    return `${seconds}.${padded(date.getMilliseconds(), 3)}`;
  }

  // MARK: Calls

  /** All calls by key, in the order of arrival: the id of a recorded call, or h and a number of an imported one. */
  const calls = new Map();
  let version = 0, imports = 0;
  const filter = { words: [], method: "", status: "", source: "", failed: false };
  const order = { by: "", direction: 1 };
  const methods = new Set();

  function store(key, summary) {
    const call = { ...summary, key, version: ++version };
    const url = call.url ?? "", scheme = url.indexOf("://");
    const slash = scheme < 0 ? 0 : url.slice(scheme + 3).search(/[/?#]/);
    call.host = scheme < 0 ? "" : slash < 0 ? url.slice(scheme + 3) : url.slice(scheme + 3, scheme + 3 + slash);
    call.path = scheme < 0 ? url : slash < 0 ? "/" : url.slice(scheme + 3 + slash);
    calls.set(key, call);
    if (call.method && !methods.has(call.method) && methods.size < 50) {
      methods.add(call.method);
      byId("method").append(make("option", { value: call.method }, cut(call.method, 20)));
    }
    return call;
  }

  const REVALIDATION = "revalidation in the background";
  const stateWords = { cancelled: "canceled" };
  const isLive = (call) => call.state === "running" || call.state === "open";
  const hasFailed = (call) => call.state === "failed" || call.status >= 400;
  const sourceOf = (call) =>
    ["network", "cache", "stale", "revalidated", "stub", "shared"].includes(call.source) ? call.source : "";

  function matches(call) {
    if (filter.failed && !hasFailed(call)) return false;
    if (filter.method && call.method !== filter.method) return false;
    if (filter.source && (call.imported ? "imported" : call.source) !== filter.source) return false;
    if (filter.status) {
      const of = isLive(call) ? "running" : call.status ? `${Math.floor(call.status / 100)}xx` : "none";
      const others = array(call.statuses).map((status) => `${Math.floor(status / 100)}xx`);
      if (of !== filter.status && !others.includes(filter.status)) return false;
    }
    if (filter.words.length === 0) return true;
    call.text ??= [
      call.method, cut(call.url ?? "", 4000), call.status, ...array(call.statuses), stateWords[call.state] ?? call.state,
      call.type, call.source, call.endpoint, call.revalidation ? REVALIDATION : "",
      call.environment, call.error && cut(call.error, 4000), call.closed && cut(call.closed, 400), call.kind === "http" ? "" : call.kind,
    ].join(" ").toLowerCase();
    return filter.words.every((word) => call.text.includes(word));
  }

  function found() {
    const result = [];
    for (const call of calls.values()) if (matches(call)) result.push(call);
    if (order.by) {
      const by = order.by, missing = -Infinity;
      const text = by === "method" || by === "path" || by === "host" || by === "source";
      result.sort((a, b) => {
        const left = a[by] ?? (text ? "" : missing), right = b[by] ?? (text ? "" : missing);
        return (left < right ? -1 : left > right ? 1 : 0) * order.direction;
      });
    }
    return result;
  }

  // MARK: A list that has elements for the visible rows only

  class Rows {
    /** `fill` writes an item into its row, `choose` learns the active item, `open` an item that was entered. */
    constructor({ scroller, body, prefix, head, height, key, fill, choose, open }) {
      Object.assign(this, { scroller, body, prefix, head, height, key, fill, choose, open });
      Object.assign(this, { items: [], shown: new Map(), active: null });
      scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
      scroller.addEventListener("keydown", (event) => this.press(event));
      body.addEventListener("click", (event) => {
        const row = event.target.closest("[role=row]");
        const item = row && this.items.find((item) => this.prefix + this.key(item) === row.id);
        if (item) { this.activate(item); this.open(item, false); }
      });
    }

    schedule() {
      this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.render(); });
    }

    set(items, follow) {
      const { scroller } = this;
      const ended = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 8;
      const grew = items.length > this.items.length;
      this.items = items;
      this.render();
      if (follow && ended && grew) {
        scroller.scrollTop = scroller.scrollHeight;
        this.render();
      }
    }

    render() {
      const { scroller, body, items } = this, height = this.height(), head = this.head();
      body.style.height = `${items.length * height}px`;
      scroller.setAttribute("aria-rowcount", items.length + 1);
      const top = scroller.scrollTop;
      const first = Math.max(0, Math.floor(top / height) - 8);
      const last = Math.min(items.length, Math.ceil((top + scroller.clientHeight - head) / height) + 8);
      const before = this.shown, shown = new Map();
      for (let index = first; index < last; index++) {
        const key = this.key(items[index]);
        shown.set(key, before.get(key));
        before.delete(key);
      }
      const spare = [...before.values()];
      let previous = null;
      for (let index = first; index < last; index++) {
        const item = items[index], key = this.key(item);
        let row = shown.get(key);
        if (!row) {
          row = spare.pop() ?? make("div", { class: "row", role: "row" });
          row.id = this.prefix + key;
          row.version = undefined;
          shown.set(key, row);
        }
        if (row.version !== item.version || row.version === undefined) {
          this.fill(row, item);
          row.version = item.version;
        }
        row.setAttribute("aria-rowindex", index + 2);
        row.setAttribute("aria-selected", key === this.active);
        row.style.transform = `translateY(${index * height}px)`;
        const next = previous ? previous.nextSibling : body.firstChild;
        if (next !== row) body.insertBefore(row, next);
        previous = row;
      }
      for (const row of spare) row.remove();
      this.shown = shown;
      if (shown.has(this.active)) scroller.setAttribute("aria-activedescendant", this.prefix + this.active);
      else scroller.removeAttribute("aria-activedescendant");
    }

    activate(item) {
      this.active = item ? this.key(item) : null;
      const index = item ? this.items.indexOf(item) : -1;
      if (index >= 0) {
        const { scroller } = this, height = this.height(), room = scroller.clientHeight - this.head();
        if (index * height < scroller.scrollTop) scroller.scrollTop = index * height;
        else if ((index + 1) * height > scroller.scrollTop + room) scroller.scrollTop = (index + 1) * height - room;
      }
      this.render();
      if (item) this.choose(item);
    }

    press(event) {
      if (event.target !== this.scroller || event.ctrlKey || event.metaKey || event.altKey) return;
      const count = this.items.length;
      if (count === 0) return;
      const now = this.items.findIndex((item) => this.key(item) === this.active);
      const page = Math.max(1, Math.floor((this.scroller.clientHeight - this.head()) / this.height()) - 1);
      const to = {
        ArrowDown: now + 1, ArrowUp: now < 0 ? count - 1 : now - 1, PageDown: now + page, PageUp: now - page,
        Home: 0, End: count - 1,
      }[event.key];
      if (to !== undefined) this.activate(this.items[Math.min(count - 1, Math.max(0, to))]);
      else if ((event.key === "Enter" || event.key === " ") && now >= 0) this.open(this.items[now], true);
      else return;
      event.preventDefault();
    }
  }

  // MARK: The list of calls

  const list = byId("list"), grid = byId("calls");
  let isCompact = false;
  const rows = new Rows({
    scroller: grid, body: byId("rows"), prefix: "call-", key: (call) => call.key, fill: fillCall,
    head: () => isCompact ? 0 : 30, height: () => isCompact ? 50 : 30,
    choose: (call) => { if (!detail.hidden) show(call.key); },
    open: (call, byKeyboard) => show(call.key, byKeyboard || narrow.matches),
  });
  const narrow = matchMedia("(max-width: 760px)");
  new ResizeObserver(() => {
    isCompact = grid.clientWidth < 720;
    grid.classList.toggle("compact", isCompact);
    rows.schedule();
  }).observe(grid);

  function statusOf(call) {
    if (call.state === "running") return ["◌ running", "quiet"];
    if (call.state === "open") return ["● open", "ok"];
    if (call.state === "cancelled") return ["⊘ canceled", "quiet"];
    if (!call.status) return call.state === "failed" ? ["✕ failed", "bad"] : ["done", "ok"];
    const code = call.closed?.match(/^\d+/)?.[0];
    if (code && call.state === "finished") return [`○ ${code}`, /^100[01]$/.test(code) ? "ok" : "warn"];
    const failed = call.state === "failed" || call.status >= 500 ? "✕ " : "";
    const isBad = call.status >= 500 || (failed && call.status < 400);
    return [failed + call.status, isBad ? "bad" : call.status >= 400 ? "warn" : call.status >= 300 ? "moved" : "ok"];
  }
  const sizeOf = (call) =>
    call.kind === "http" || !call.messages ? bytes(call.size ?? NaN) : counted(call.messages, "msg");
  const timeOf = (call) => isLive(call) ? "" : time(call.duration ?? NaN);

  function fillCall(row, call) {
    const [status, kind] = statusOf(call), source = sourceOf(call), badge = call.imported ? "imported" : call.revalidation ? "background" : source;
    const name = call.kind === "websocket" ? "WS" : call.kind === "events" ? "SSE" : "";
    const method = name ? `${cut(call.method ?? "", 12)} ${name}` : cut(call.method ?? "", 16);
    const isRetried = call.attempts > 1;
    const attempts = [isRetried ? `↻ ${call.attempts}` : String(call.attempts ?? ""), isRetried ? "tries several" : "tries"];
    const cells = [
      [status, `status ${kind}`], [method, "method"], [cut(call.path, 400), "path"], [cut(call.host, 200), "host"],
      ["", "source"], attempts, [sizeOf(call), "size"], [isLive(call) ? "…" : timeOf(call), "time"],
    ];
    row.replaceChildren(...cells.map(([text, name]) => write(make("div", { role: "gridcell", class: name }), text)));
    const cell = row.children[4];
    if (badge) cell.append(make("span", { class: badge === "network" ? "plain" : "pill" }, badge));
    else cell.append(make("span", { class: "plain" }));
    row.title = [
      plain(call.url ?? "", 500), clock(call.started ?? NaN), call.revalidation ? REVALIDATION : "", call.error ? plain(call.error) : "",
    ].filter(Boolean).join("\n");
    row.setAttribute("aria-label", [
      plain(call.method ?? "", 20), plain(call.path, 150), plain(call.host, 100),
      call.closed ? `closed: ${plain(call.closed, 100)}` : status.replace(/^[^\w]+/, ""), call.revalidation ? REVALIDATION : badge,
      call.attempts > 1 ? counted(call.attempts, "attempt") : "", sizeOf(call), timeOf(call),
    ].filter(Boolean).join(", "));
  }

  let frame, changed = false;
  function refresh() {
    changed = true;
    frame ??= requestAnimationFrame(draw);
  }

  function draw() {
    frame = undefined;
    if (!changed) return;
    changed = false;
    const shown = found();
    rows.set(shown, !order.by && chosen.key === null);
    let failed = 0;
    for (const call of calls.values()) if (hasFailed(call)) failed++;
    const count = [counted(calls.size, "call")];
    if (shown.length !== calls.size) count.push(`${shown.length.toLocaleString("en")} shown`);
    if (failed) count.push(`${failed.toLocaleString("en")} failed`);
    byId("count").textContent = calls.size ? count.join(", ") : "No calls";
    const empty = byId("empty");
    empty.hidden = shown.length > 0;
    if (!empty.hidden && empty.dataset.of !== String(calls.size > 0)) {
      empty.dataset.of = calls.size > 0;
      empty.replaceChildren(...(calls.size
        ? [
          make("b", {}, "No call matches"), "Change the search or the filter.", make("br"),
          button("Show all calls", showAll),
        ]
        : [make("b", {}, "No calls yet"), "Calls appear here while the app sends them."]));
    }
    if (chosen.key !== null) {
      const call = calls.get(chosen.key);
      if (call && call.version !== chosen.version) load(call);
    }
  }

  function showAll() {
    for (const id of ["search", "method", "status", "source"]) byId(id).value = "";
    byId("failed").setAttribute("aria-pressed", "false");
    readFilter();
    grid.focus();
  }

  function readFilter() {
    filter.words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const name of ["method", "status", "source"]) filter[name] = byId(name).value;
    filter.failed = byId("failed").getAttribute("aria-pressed") === "true";
    refresh();
  }
  for (const id of ["search", "method", "status", "source"]) byId(id).addEventListener("input", readFilter);
  byId("failed").addEventListener("click", (event) => {
    const pressed = event.currentTarget.getAttribute("aria-pressed") === "true";
    event.currentTarget.setAttribute("aria-pressed", String(!pressed));
    readFilter();
  });
  for (const head of grid.querySelectorAll(".columns button")) {
    head.addEventListener("click", () => {
      if (order.by !== head.dataset.by) Object.assign(order, { by: head.dataset.by, direction: 1 });
      else if (order.direction === 1) order.direction = -1;
      else Object.assign(order, { by: "", direction: 1 });
      for (const cell of grid.querySelectorAll("[role=columnheader]")) {
        const isBy = order.by && cell.firstChild.dataset.by === order.by;
        if (isBy) cell.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
        else cell.removeAttribute("aria-sort");
      }
      refresh();
    });
  }

  // MARK: Announcements, at most one in five seconds about new calls

  let fresh = 0, freshFailed = 0, announcing;
  const announce = (text) => { byId("announcement").textContent = text; };
  function noticed(call) {
    fresh++;
    if (hasFailed(call)) freshFailed++;
    announcing ??= setTimeout(() => {
      announcing = undefined;
      announce(counted(fresh, "new call") + (freshFailed ? `, ${freshFailed} failed` : ""));
      fresh = freshFailed = 0;
    }, 5000);
  }

  // MARK: Server-sent events

  const GONE = "The app has ended or does not answer";
  let events;
  function connected(state, text) {
    const element = byId("connection");
    if (element.dataset.state === state) return;
    if (state === "lost" || (state === "live" && element.dataset.state === "lost")) announce(text);
    element.dataset.state = state;
    element.lastChild.textContent = text;
  }

  function connect() {
    events = new EventSource("calls");
    events.addEventListener("open", () => connected("live", "Live"));
    events.addEventListener("reset", () => {
      for (const call of [...calls.values()]) if (!call.imported) calls.delete(call.key);
      refresh();
    });
    events.addEventListener("call", (event) => {
      const summary = JSON.parse(event.data), key = String(summary.id);
      const isNew = !calls.has(key), call = store(key, summary);
      if (isNew && document.visibilityState === "visible") noticed(call);
      refresh();
    });
    events.addEventListener("removed", (event) => {
      for (const id of JSON.parse(event.data).ids) calls.delete(String(id));
      refresh();
    });
    events.addEventListener("error", () => {
      connected("lost", GONE);
      // A browser reconnects by itself, except after an answer that is no event stream.
      if (events.readyState === EventSource.CLOSED) {
        fetch("calls/0").then((answer) => {
          if (answer.status === 403) byId("connection").lastChild.textContent = "Open the link that the app printed";
        }, () => {});
        setTimeout(connect, 3000);
      }
    });
  }

  // MARK: The detail of the chosen call

  const detail = byId("detail");
  /** The chosen call, the version of its summary, and what is loaded. The tab stays when another call is chosen. */
  const chosen = { key: null, version: 0, isLoading: false, data: null, tab: "timeline", exchange: null };
  let loading, timer, pictures = [];

  function show(key, focus = false) {
    const call = calls.get(key);
    if (!call) return;
    detail.hidden = false;
    byId("main").classList.add("open");
    list.inert = narrow.matches;
    if (chosen.key !== key) {
      stopLoading();
      Object.assign(chosen, { key, version: 0, data: null, problem: undefined, exchange: null });
      byId("panel").scrollTop = 0;
      drawDetail();
      load(call);
    }
    if (focus) detail.querySelector("h2").focus();
    rows.schedule();
  }

  function close() {
    const inside = detail.contains(document.activeElement) || list.inert;
    detail.hidden = true;
    list.inert = false;
    byId("main").classList.remove("open");
    Object.assign(chosen, { key: null, data: null });
    stopLoading();
    if (inside) grid.focus();
  }
  narrow.addEventListener("change", () => { list.inert = narrow.matches && !detail.hidden; });

  function stopLoading() {
    loading?.abort();
    clearTimeout(timer);
    chosen.isLoading = false;
  }

  /** Loads the detail. Changes of a running call are loaded at most five times in a second, those during a load after it. */
  function load(call) {
    if (chosen.isLoading) return;
    chosen.isLoading = true;
    timer = setTimeout(async () => {
      loading = new AbortController();
      const { key } = call, { signal } = loading;
      chosen.version = (calls.get(key) ?? call).version;
      let data, problem;
      try {
        if (call.imported) data = importedDetail(call);
        else {
          const answer = await fetch(`calls/${encodeURIComponent(key)}`, { signal });
          if (answer.ok) data = await answer.json();
          else if (answer.status === 404) problem = "The app no longer has this call.";
          else problem = `The inspector answered with ${answer.status}.`;
        }
      } catch (error) {
        if (error.name === "AbortError") return;
        problem = call.imported ? "This entry cannot be shown." : `${GONE}.`;
      }
      if (chosen.key !== key) return;
      // A detail without messages has the number of the summary.
      if (data && !Array.isArray(data.messages)) data.messages = [];
      if (data) chosen.data = data;
      Object.assign(chosen, { problem, isLoading: false });
      drawDetail();
      const changed = calls.get(key);
      if (changed && changed.version !== chosen.version) load(changed);
    }, chosen.data ? 200 : 0);
  }

  let shownHead = "", shownPanel = "";
  function drawDetail() {
    const call = calls.get(chosen.key) ?? chosen.data;
    if (!call) return;
    const { data } = chosen;
    const head = JSON.stringify([call.key, call.version, data?.error, !!data?.curl, !!data?.stub, chosen.problem]);
    if (head !== shownHead) {
      const top = byId("head");
      const focused = top.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
      shownHead = head;
      top.replaceChildren(drawTitle(call, data), ...drawFault(call, data), drawTabs(call, data));
      if (focused) top.querySelector(`[data-focus="${focused}"]`)?.focus();
    }
    drawPanel(call, data);
  }

  function drawTitle(call, data) {
    const [status, kind] = statusOf(call), source = sourceOf(call);
    const facts = [
      call.endpoint, call.environment, call.revalidation && REVALIDATION,
      call.imported ? "imported" : { revalidated: "from the cache, revalidated", stale: "stale, from the cache", cache: "from the cache", shared: "shared with another call" }[source]
        ?? (source && `from ${source}`),
      call.kind === "websocket" ? "WebSocket" : call.kind === "events" ? "server-sent events" : "",
      call.closed && `closed: ${cut(call.closed, 200)}`,
      call.attempts > 1 && counted(call.attempts, "attempt"), call.exchanges > 1 && counted(call.exchanges, "exchange"),
      call.type, sizeOf(call), clock(call.started ?? NaN),
    ].filter(Boolean).map((fact) => make("span", {}, cut(fact, 200)));
    const copying = (name, text, id) =>
      text && button(`Copy as ${name}`, (event) => copy(event.currentTarget, text), { "data-focus": id });
    return make("div", { class: "title" },
      make("div", {},
        button("✕", close, {
          "aria-label": "Close", "aria-keyshortcuts": "Escape", class: "button small plain", "data-focus": "close",
        }),
        make("h2", { tabindex: "-1", "data-focus": "title" },
          make("span", { class: "mono" }, cut(call.method ?? "", 20)),
          make("span", { class: `status ${kind}` }, status), make("span", {}, timeOf(call))),
        make("span", { class: "copies" }, copying("cURL", data?.curl, "curl"), copying("stub", data?.stub, "stub"))),
      make("p", { class: "address" }, cut(call.url ?? "", 8000)),
      make("div", { class: "facts" }, facts));
  }

  function drawFault(call, data) {
    if (chosen.problem) return [make("div", { class: "fault" }, chosen.problem)];
    const text = data?.error?.text ?? "", summary = data?.error?.summary ?? call.error ?? "";
    if (!summary) return [];
    if (!text || text === summary) return [make("div", { class: "fault" }, cut(summary, 4000))];
    return [make("details", { class: "fault" }, make("summary", {}, cut(summary, 1000)), longText(text))];
  }

  const TABS = { timeline: "Timeline", request: "Request", response: "Response", messages: "Messages" };
  function drawTabs(call, data) {
    const hasMessages = call.kind !== "http";
    const names = Object.keys(TABS).filter((name) => name !== "messages" || hasMessages);
    const now = names.includes(chosen.tab) ? chosen.tab : "timeline";
    const tabs = names.map((name) => make("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", "aria-selected": String(name === now),
      tabindex: name === now ? "0" : "-1", "data-focus": `tab-${name}`, click: () => openTab(name),
    }, name === "messages" && call.messages ? `Messages (${call.messages.toLocaleString("en")})` : TABS[name]));
    return make("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the call", keydown: pressTab }, tabs);
  }

  function openTab(name, focus = false) {
    chosen.tab = name;
    for (const tab of detail.querySelectorAll("[role=tab]")) {
      const isOpen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      if (isOpen && focus) tab.focus();
    }
    drawDetail();
  }

  function pressTab(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...detail.querySelectorAll("[role=tab]")];
    const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    openTab(tabs[(now + step + tabs.length) % tabs.length].id.slice(4), true);
    event.preventDefault();
  }

  function drawPanel(call, data) {
    const panel = byId("panel");
    const name = detail.querySelector("[role=tab][aria-selected=true]").id.slice(4);
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    const exchanges = data?.exchanges ?? [];
    const index = Math.min(chosen.exchange ?? exchanges.length - 1, exchanges.length - 1);
    const times = exchanges.map(({ request, response, ...rest }) => rest);
    const content = name === "timeline" ? [data?.steps, times, data?.duration]
      : name === "messages" ? "" : exchanges[index]?.[name] ?? data?.[name];
    const shows = JSON.stringify([call.key, !!data, name, index, exchanges.length, content, chosen.problem]);
    if (shows === shownPanel) {
      if (name === "messages") panel.messages?.set(data.messages);
      return;
    }
    shownPanel = shows;
    for (const url of pictures.splice(0)) URL.revokeObjectURL(url);
    const focused = [...panel.querySelectorAll("[role=treeitem]")].indexOf(document.activeElement);
    const { scrollTop } = panel;
    panel.className = name === "messages" ? "panel messages" : "panel";
    panel.messages = undefined;
    panel.replaceChildren();
    if (!data && !chosen.problem) panel.append(note("Loading …"));
    else if (!data) panel.append(note("The details of this call were not loaded."));
    else if (name === "timeline") drawTimeline(panel, call, data);
    else if (name === "messages") drawMessages(panel, data);
    else drawMessage(panel, call, data, exchanges, index, name);
    panel.scrollTop = scrollTop;
    if (focused >= 0) panel.querySelectorAll("[role=treeitem]")[focused]?.focus();
  }

  // MARK: Trees. The rows are flat, so a deep tree nests no elements.

  const PORTION = 100;
  /** A node has `draw`, which fills its row, perhaps `children`, and perhaps `open`, for Enter and a click. */
  function tree(name, label, roots) {
    const element = make("div", { class: `tree ${name}`, role: "tree", "aria-label": label });
    let current;
    const isRow = (row) => row?.getAttribute("role") === "treeitem";
    function rowOf(node, level) {
      const row = make("div", { class: "item", role: "treeitem", "aria-level": level, tabindex: "-1" });
      row.node = node;
      row.level = level;
      row.style.setProperty("--indent", `${Math.min(level - 1, 24) * 16}px`);
      if (node.children) row.setAttribute("aria-expanded", "false");
      node.draw(row);
      return row;
    }
    function portion(nodes, level, from) {
      const made = [];
      for (const node of nodes.slice(from, from + PORTION)) {
        const row = rowOf(node, level);
        made.push(row);
        if (node.isOpen && node.children) made.push(...unfold(row));
      }
      const left = nodes.length - from - PORTION;
      if (left > 0) {
        made.push(rowOf({
          draw: (row) => row.append(make("span", { class: "more" }, `${left.toLocaleString("en")} more`)),
          open: (row) => {
            const next = portion(nodes, level, from + PORTION);
            row.replaceWith(...next);
            go(next[0]);
          },
        }, level));
      }
      return made;
    }
    function unfold(row) {
      row.setAttribute("aria-expanded", "true");
      return portion(row.node.children(), row.level + 1, 0);
    }
    function toggle(row) {
      if (row.getAttribute("aria-expanded") === "false") row.after(...unfold(row));
      else {
        row.setAttribute("aria-expanded", "false");
        while (row.nextSibling && row.nextSibling.level > row.level) row.nextSibling.remove();
      }
    }
    function go(row) {
      if (!isRow(row)) return;
      if (current) current.tabIndex = -1;
      current = row;
      row.tabIndex = 0;
      row.focus();
    }
    element.addEventListener("click", (event) => {
      const row = event.target.closest("[role=treeitem]");
      if (!row || getSelection().type === "Range") return;
      go(row);
      if (row.node.open && (!row.node.children || event.target.className === "more")) row.node.open(row);
      else if (row.node.children) toggle(row);
    });
    element.addEventListener("focusin", (event) => {
      if (isRow(event.target) && event.target !== current) {
        if (current) current.tabIndex = -1;
        current = event.target;
        current.tabIndex = 0;
      }
    });
    element.addEventListener("keydown", (event) => {
      const row = event.target, expanded = row.getAttribute("aria-expanded");
      if (!isRow(row) || event.ctrlKey || event.metaKey || event.altKey) return;
      switch (event.key) {
        case "ArrowDown": go(row.nextSibling); break;
        case "ArrowUp": go(row.previousSibling); break;
        case "Home": go(element.firstChild); break;
        case "End": go(element.lastChild); break;
        case "ArrowRight":
          if (expanded === "false") toggle(row);
          else if (expanded === "true") go(row.nextSibling);
          break;
        case "ArrowLeft":
          if (expanded === "true") toggle(row);
          else {
            let parent = row.previousSibling;
            while (parent && parent.level >= row.level) parent = parent.previousSibling;
            go(parent);
          }
          break;
        case "Enter": case " ":
          if (row.node.open) row.node.open(row);
          else if (expanded) toggle(row);
          break;
        default: return;
      }
      event.preventDefault();
    });
    element.append(...portion(roots, 1, 0));
    current = element.firstChild;
    if (current) current.tabIndex = 0;
    return element;
  }

  // MARK: The timeline: call, attempts, exchanges, phases, and the decisions between them

  const KINDS = {
    started: "Started", waiting: "Waits", resumed: "Continues", cache: "Cache", retry: "Retry", redirect: "Redirect",
    authentication: "Authentication", finished: "Finished", failed: "Failed", cancelled: "Canceled",
    exchange: "Exchange", exchanged: "Exchange", open: "Open", closed: "Closed",
  };
  const STORED = { cache: "From the cache", stale: "Stale from the cache", revalidated: "From the cache, revalidated", shared: "Shared with another call" };
  /** Returns the text of a step without the word that its kind shows. */
  function stepText({ kind, text }) {
    if (text == null || text === kind || kind === "cancelled") return "";
    const word = /^(?:(?:cache|authentication|finished|failed|closed): |(?:retry|redirected|waits|continues) )/;
    if (kind === "note") return String(text);
    return String(text).replace(word, "").replace(/^after (\d+) ms/, (_, length) => `after ${time(Number(length))}`);
  }
  const phaseOf = ({ name }) =>
    ["DNS", "connect", "TLS", "send", "wait", "receive"].includes(name) ? name : "queue";
  const endOf = ({ at, duration }) => at + (duration ?? 0);

  function drawTimeline(panel, call, data) {
    const steps = data.steps ?? [], exchanges = data.exchanges ?? [];
    const sent = exchanges.filter(({ source }) => !source);
    const whole = Math.max(data.duration ?? 0, ...exchanges.map(endOf), ...steps.slice(-1).map(endOf), 0.001);
    const until = (exchange) => exchange.duration == null ? whole : endOf(exchange);
    /** Fills a row with text, length and bars: kind, start and length of each. */
    const moment = (row, kind, text, length, bars, strong = false) => {
      const track = make("div", { class: "track", "aria-hidden": "true" });
      for (const [name, at, duration] of bars) {
        const bar = make("i", { class: name });
        bar.style.insetInlineStart = `${Math.min(99.6, Math.max(0, at / whole * 100))}%`;
        if (name !== "tick") bar.style.width = `${Math.min(100, Math.max(0, duration / whole * 100))}%`;
        track.append(bar);
      }
      const title = kind && (strong ? make("b", {}, kind, " ") : make("span", { class: "kind" }, kind));
      const words = make("span", { class: "text" }, title, text);
      row.append(make("div", { class: "moment" }, words, make("span", { class: "length" }, length), track));
    };
    const barOf = (phase) => [phaseOf(phase), phase.at, phase.duration];
    const phaseNode = (phase) => ({
      draw: (row) => moment(row, "", phaseOf(phase), time(phase.duration), [barOf(phase)]),
    });
    const exchangeNode = (exchange, index) => ({
      at: exchange.at,
      isOpen: index === exchanges.length - 1 && exchange.phases?.length > 1,
      children: exchange.phases?.length > 0 ? () => exchange.phases.map(phaseNode) : undefined,
      open: () => { chosen.exchange = index; openTab("response", true); },
      draw: (row) => {
        const view = () => row.querySelector(".text").append(" ", make("span", { class: "more" }, "view"));
        if (exchange.source) {
          const facts = [exchange.outcome, cut(exchange.cause ?? "", 300)].filter(Boolean).join(", ");
          moment(row, `${STORED[exchange.source]}:`, facts, `at ${time(exchange.at)}`, [["tick", exchange.at]], true);
          return view();
        }
        const bars = exchange.phases?.length ? exchange.phases.map(barOf)
          : [["span", exchange.at, exchange.duration ?? whole - exchange.at]];
        const connection = { true: "reused connection", false: "new connection" }[exchange.reused];
        const facts = [
          exchange.outcome ?? "running", exchange.error && cut(exchange.error, 300), exchange.cause && cut(exchange.cause, 300), exchange.protocol,
          connection, exchange.remote,
        ].filter(Boolean).join(", ");
        const number = exchange.number ?? index + 1;
        moment(row, `Exchange ${number}:`, cut(facts, 600), time(exchange.duration ?? NaN), bars, true);
        view();
      },
    });
    const stepNode = (step, end) => ({
      at: step.at,
      draw: (row) => {
        const length = end === undefined ? "" : time(end - step.at);
        moment(row, KINDS[step.kind] ?? "Note", cut(stepText(step), 2000), length || `at ${time(step.at)}`,
          end === undefined ? [["tick", step.at]] : [["pause", step.at, end - step.at]]);
      },
    });

    const attempts = new Map(), top = [], paused = { retry: 0, waiting: 0 };
    const place = (attempt, node) => {
      if (!attempt) return top.push(node);
      if (!attempts.has(attempt)) attempts.set(attempt, []);
      attempts.get(attempt).push(node);
    };
    exchanges.forEach((exchange, index) => place(exchange.attempt || 1, exchangeNode(exchange, index)));
    steps.forEach((step, index) => {
      if ((step.kind === "exchange" || step.kind === "exchanged") && exchanges.length > 0) return;
      if (step.kind === "cache" && exchanges.some(({ source, at }) => source && at === step.at)) return;
      const isOfCall = ["started", "retry", "finished", "failed", "cancelled", "open", "closed"].includes(step.kind);
      let end;
      if (step.kind === "retry" || step.kind === "waiting") {
        const starts = step.kind === "retry" ? exchanges.filter(({ at }) => at > step.at).map(({ at }) => at) : [];
        const resumed = steps.slice(index + 1).find(({ kind }) => kind === "resumed");
        end = starts.length ? Math.min(...starts) : resumed?.at;
        if (end > step.at) paused[step.kind] += end - step.at;
      }
      place(isOfCall || !exchanges.length ? 0 : step.attempt, stepNode(step, end));
    });
    for (const [attempt, nodes] of attempts) {
      const own = exchanges.filter((exchange) => (exchange.attempt || 1) === attempt);
      nodes.sort((a, b) => a.at - b.at);
      const at = own.length ? Math.min(...own.map(({ at }) => at)) : nodes[0].at;
      const end = own.length ? Math.max(...own.map(until)) : nodes.at(-1).at;
      top.push({
        at: Math.min(at, nodes[0].at), isOpen: true, children: () => nodes,
        draw: (row) => moment(row, `Attempt ${attempt}`, own.some(({ source }) => !source) ? "" : "without an exchange", time(end - at),
          [["span", at, end - at]], true),
      });
    }
    top.sort((a, b) => a.at - b.at);

    let busy = 0, last = 0;
    for (const exchange of sent.sort((a, b) => a.at - b.at)) {
      busy += Math.max(0, until(exchange) - Math.max(last, exchange.at));
      last = Math.max(last, until(exchange));
    }
    const total = call.state === "open" ? "still open" : call.state === "running" ? "still running" : time(data.duration ?? whole);
    const inside = `${time(busy)} in ${counted(sent.length, "exchange")}`;
    const isSocket = call.kind === "websocket";
    const rest = Math.max(0, whole - busy), waited = Math.min(rest, paused.retry), other = Math.min(rest - waited, paused.waiting);
    const around = [
      waited > 0 && `${time(waited)} waiting to retry`, other > 0 && `${time(other)} waiting before sending`,
      `${time(rest - waited - other)} ${waited + other > 0 ? "for the rest" : sent.length === 1 ? "around it" : "around them"}`,
    ].filter(Boolean).join(", ");
    panel.append(
      note(sent.length ? isSocket ? `${total}: the handshake took ${inside}.` : `${total}: ${inside}, ${around}.` : `${total}, without an exchange.`),
      tree("timeline", "Timeline of the call", [{
        isOpen: true, children: () => top, draw: (row) => moment(row, "Call", "", total, [["span", 0, whole]], true),
      }]));
  }

  // MARK: Request and response

  function drawMessage(panel, call, data, exchanges, index, name) {
    if (exchanges.length > 1) {
      const choices = exchanges.map((exchange, number) => make("option", { value: number, selected: number === index },
        `${STORED[exchange.source] ?? `Exchange ${exchange.number ?? number + 1}`}, attempt ${exchange.attempt}: `
          + cut([exchange.outcome ?? "running", exchange.error].filter(Boolean).join(", "), 90)));
      const pick = make("select", {
        "aria-label": "Exchange", change: () => { chosen.exchange = Number(pick.value); drawDetail(); },
      }, choices);
      panel.append(make("div", { class: "tools" }, pick));
    }
    const exchange = exchanges[index], message = exchange ? exchange[name] : data[name];
    const why = {
      cache: "The cache had this response, so nothing was sent", stale: "This stored response is older than its lifetime",
      revalidated: "The server confirmed this stored response",
      shared: "The exchange of an equal call received this response",
    }[exchange?.source];
    if (why) panel.append(note(exchange.cause ? `${why}: ${cut(exchange.cause, 300)}.` : `${why}.`));
    if (!exchange) panel.append(note("Nothing was sent."));
    if (!message) {
      const outcome = exchange?.outcome == null ? "" : cut(String(exchange.outcome), 1000);
      if (exchange) panel.append(note(outcome ? `No response: ${outcome}` : "No response yet."));
      return;
    }
    const line = name === "request" ? `${message.method} ${message.url}`
      : [message.status, exchange?.protocol].filter(Boolean).join("  ");
    panel.append(make("p", { class: "mono address" }, cut(line, 8000)));
    if (name === "request") {
      const query = queryOf(message.url ?? "");
      if (query.length) panel.append(fold("Query", query.length, fields("Query", query)));
    }
    if (name === "response" && exchange?.error) {
      panel.append(make("p", { class: "bad" }, `Incomplete: ${cut(exchange.error, 1000)}. What arrived before is below.`));
    }
    const headers = message.headers ?? [];
    panel.append(fold("Header fields", headers.length, headers.length ? fields("Header fields", headers) : note("None.")));
    const { body } = message;
    const announced = name === "response" && exchange?.error
      && headers.find(([name]) => String(name).toLowerCase() === "content-length")?.[1];
    const size = announced ? `${bytes(body?.size ?? 0)} of ${cut(String(announced), 20)} B` : bytes(body?.size ?? NaN);
    const facts = body ? [size, body.type && cut(body.type, 100)] : [announced ? size : "none"];
    panel.append(fold("Body", facts.filter(Boolean).join(", "), bodyView(body, `Body of the ${name}`)));
  }

  function fold(name, count, content) {
    const summary = make("summary", {}, name, make("span", {}, String(count)));
    return make("details", { class: "fold", open: true }, summary, content);
  }

  function fields(label, pairs) {
    const body = make("tbody"), table = make("table", { class: "fields", "aria-label": label }, body);
    const add = (from) => {
      for (const [name, value] of pairs.slice(from, from + 200)) {
        const cell = make("td", {}, cut(String(value), 1000));
        if (String(value).length > 1000) {
          const all = button("Show all", () => { cell.replaceChildren(); write(cell, cut(String(value), 200_000)); });
          cell.append(" ", all);
        }
        body.append(make("tr", {}, make("th", { scope: "row" }, cut(String(name), 300)), cell));
      }
      if (pairs.length > from + 200) {
        const next = button(`${pairs.length - from - 200} more`, () => { more.remove(); add(from + 200); });
        const more = make("tr", {}, make("td", { colspan: 2 }, next));
        body.append(more);
      }
    };
    add(0);
    return table;
  }

  function queryOf(url) {
    const start = url.indexOf("?");
    if (start < 0) return [];
    const decode = (text) => { try { return decodeURIComponent(text.replaceAll("+", " ")); } catch { return text; } };
    return url.slice(start + 1).split("#")[0].split("&").filter(Boolean).map((pair) => {
      const equals = pair.indexOf("=");
      return equals < 0 ? [decode(pair), ""] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
  }

  /** Text in portions, so that a large body does not hang the page. */
  const longText = (text) => portions("Text", text.length, 30_000, (pre, from, to) => {
    write(pre, text.slice(from, to), true);
    return `${(text.length - to).toLocaleString("en")} characters`;
  });

  /** A text whose portions `add` appends. It returns what remains. */
  function portions(label, length, size, add) {
    const pre = make("pre", { tabindex: "0", role: "group", "aria-label": label });
    const next = (from) => {
      const rest = add(pre, from, from + size);
      if (from + size >= length) return;
      const more = button(`Show more of ${rest}`, () => { more.remove(); next(from + size); });
      pre.append(" ", more);
    };
    next(0);
    return pre;
  }

  function bodyView(body, label) {
    if (!body) return note("No body.");
    if (typeof body.base64 === "string") {
      const data = decoded(body.base64);
      if (!data) return longText(body.base64);
      const type = pictureType(data);
      return type ? picture(data, type, label) : hex(data);
    }
    if (typeof body.text !== "string") return note(`Not kept: ${cut(String(body.omitted ?? "no text"), 300)}`);
    if (body.text === "") return note("Empty.");
    const view = make("div", {}), content = make("div", {});
    const tools = make("div", { class: "tools" });
    const start = body.text.slice(0, 200).trimStart()[0];
    const root = start === "{" || start === "[" || /json/i.test(body.type ?? "") ? parseJSON(body.text) : null;
    if (root?.children) {
      const asTree = button("Tree", () => choose(true)), asText = button("Text", () => choose(false));
      const choose = (isTree) => {
        asTree.setAttribute("aria-pressed", String(isTree));
        asText.setAttribute("aria-pressed", String(!isTree));
        content.replaceChildren(isTree ? tree("json", label, [jsonNode(root, 0)]) : longText(body.text));
      };
      tools.append(asTree, asText);
      choose(true);
    } else content.append(longText(body.text));
    tools.append(button("Copy", (event) => copy(event.currentTarget, body.text), { "aria-label": "Copy the body" }));
    view.append(tools, content);
    return view;
  }

  /** The type of a raster image by its first bytes. What the server calls it does not matter, and SVG stays text. */
  function pictureType(data) {
    const text = String.fromCharCode(...data.subarray(0, 16));
    if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
    if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
    if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
    if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
    return text.slice(4, 12) === "ftypavif" ? "image/avif" : null;
  }

  function picture(data, type, label) {
    const url = URL.createObjectURL(new Blob([data], { type }));
    pictures.push(url);
    const image = make("img", { class: "picture", alt: `${label}: an image of the type ${type}` });
    const size = make("p", { class: "note" }, type);
    image.addEventListener("load", () => {
      size.textContent = `${type}, ${image.naturalWidth} × ${image.naturalHeight} pixels`;
    });
    image.addEventListener("error", () => image.replaceWith(hex(data)));
    image.src = url;
    return make("div", {}, image, size);
  }

  const hex = (data) => portions("Bytes", data.length, 2048, (pre, from, to) => {
    for (let start = from; start < Math.min(data.length, to); start += 16) {
      const part = [...data.subarray(start, start + 16)];
      const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      const text = part.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·").join("");
      pre.append(`${start.toString(16).padStart(6, "0")}  ${digits.padEnd(48)} ${text}\n`);
    }
    return bytes(data.length - to);
  });

  /** Returns the bytes of base64, or null. */
  function decoded(base64) {
    try { return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)); } catch { return null; }
  }

  // MARK: JSON, read without recursion. Numbers keep their text, and members that repeat are all shown.

  const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, SPACE = /[ \t\n\r]*/y;
  /** Returns the root node, or null if the text is no JSON or larger than 4 million characters. */
  function parseJSON(text) {
    if (text.length > 4_000_000) return null;
    let position = text.charCodeAt(0) === 0xfeff ? 1 : 0;
    const space = () => { SPACE.lastIndex = position; SPACE.test(text); position = SPACE.lastIndex; };
    const string = () => {
      let end = position;
      for (;;) {
        end = text.indexOf('"', end + 1);
        if (end < 0) return null;
        let slashes = 0;
        while (text[end - 1 - slashes] === "\\") slashes++;
        if (slashes % 2 === 0) break;
      }
      const raw = text.slice(position, end + 1);
      position = end + 1;
      try { return JSON.parse(raw); } catch { return null; }
    };
    const open = [];
    let name, root;
    for (;;) {
      space();
      const character = text[position], parent = open.at(-1);
      let node;
      if (character === "{" || character === "[") {
        node = { kind: character, name, children: [] };
        position++;
      } else if (character === '"') {
        const value = string();
        if (value === null) return null;
        node = { kind: "string", name, value };
      } else {
        const word = ["true", "false", "null"].find((word) => text.startsWith(word, position));
        NUMBER.lastIndex = position;
        const number = word ?? NUMBER.exec(text)?.[0];
        if (!number) return null;
        node = { kind: word ? "word" : "number", name, value: number };
        position += number.length;
      }
      name = undefined;
      if (parent) parent.children.push(node); else root = node;
      let inside = node.children ? node : parent, isFirst = !!node.children;
      if (node.children) open.push(node);
      // Closes what ends here, and reads the name of the next member.
      for (;;) {
        space();
        if (!inside) return position === text.length ? root : null;
        if (text[position] === (inside.kind === "{" ? "}" : "]")) {
          position++;
          open.pop();
          inside = open.at(-1);
          isFirst = false;
          continue;
        }
        if (!isFirst) {
          if (text[position] !== ",") return null;
          position++;
          space();
        }
        if (inside.kind === "{") {
          if (text[position] !== '"') return null;
          name = string();
          if (name === null) return null;
          space();
          if (text[position] !== ":") return null;
          position++;
        }
        break;
      }
    }
  }

  function jsonNode(node, depth, index) {
    const count = node.children?.length;
    return {
      isOpen: depth === 0 || (depth === 1 && count <= 60),
      children: count > 0 && (() => ({
        length: count,
        slice: (from, to) => node.children.slice(from, to).map(
          (child, index) => jsonNode(child, depth + 1, node.kind === "[" ? from + index : undefined)),
      })),
      open: node.kind === "string" && node.value.length > 1000 && ((row) => {
        row.replaceChildren();
        draw(row, 200_000);
      }),
      draw: (row) => draw(row, 1000),
    };
    function draw(row, length) {
      const line = make("span", {});
      const name = node.name === undefined ? "" : JSON.stringify(cut(node.name, 300));
      if (name) line.append(make("span", { class: "name" }, name), ": ");
      else if (index !== undefined) line.append(make("span", { class: "quiet" }, `${index}: `));
      if (node.children) {
        const inner = count === 0 ? "" : ` ${counted(count, node.kind === "{" ? "member" : "element")} `;
        line.append(make("span", { class: "quiet" }, node.kind === "{" ? `{${inner}}` : `[${inner}]`));
      } else if (node.kind === "string") {
        line.append(make("span", { class: "string" }, JSON.stringify(cut(node.value, length))));
        const all = `show all ${node.value.length.toLocaleString("en")} characters`;
        if (node.value.length > length) line.append(" ", make("span", { class: "more" }, all));
      } else line.append(make("span", { class: node.kind }, cut(node.value, length)));
      row.append(line);
    }
  }

  // MARK: Messages of a WebSocket or an event stream

  function drawMessages(panel, data) {
    const view = make("div", { class: "message", hidden: true });
    const body = make("div", { class: "rows", role: "rowgroup" });
    const scroller = make("div", { class: "grid", role: "grid", "aria-label": "Messages", tabindex: "0" }, body);
    const textOf = ({ kind, text }) => kind === "close" ? `close ${text ?? ""}` : text ?? String(kind);
    const open = (message) => {
      view.hidden = false;
      view.replaceChildren(bodyView({ text: message.text, base64: message.base64, omitted: "the bytes of this message" }, "Message"));
      rows.schedule();
    };
    const rows = new Rows({
      scroller, body, prefix: "message-", head: () => 0, height: () => 28, key: (message) => message.number,
      choose: open, open: () => {},
      fill: (row, message) => {
        const way = message.sent ? "↑ sent" : "↓ received";
        row.replaceChildren(...[
          [time(message.at), "quiet"], [way.slice(0, 1), message.sent ? "warn" : "ok"],
          [cut(textOf(message), 300), "mono"], [bytes(message.size ?? NaN), "size"],
        ].map(([text, name]) => write(make("div", { role: "gridcell", class: name }), text)));
        row.children[1].append(make("span", { class: "wide" }, way.slice(1)));
        const text = plain(textOf(message), 200);
        row.setAttribute("aria-label", [way.slice(2), time(message.at), text].join(", "));
      },
    });
    // The app removes old messages, so the index of a message changes. An imported one has no number.
    const numbered = (messages) => messages.map((message, index) => ({ number: index, version: 0, ...message }));
    const words = make("input", { type: "search", placeholder: "Search messages", "aria-label": "Search messages" });
    let all = numbered(data.messages);
    const update = () => {
      const word = words.value.toLowerCase();
      rows.set(word ? all.filter((message) => (message.text ?? "").toLowerCase().includes(word)) : all, true);
    };
    words.addEventListener("input", update);
    panel.append(make("div", { class: "tools" }, words), scroller, view);
    panel.messages = { set: (messages) => { all = numbered(messages); update(); } };
    new ResizeObserver(() => rows.schedule()).observe(scroller);
    update();
  }

  // MARK: Copy, clear, open

  async function copy(control, text) {
    let isCopied = true;
    try { await navigator.clipboard.writeText(text); } catch {
      const area = make("textarea", { class: "unseen", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      isCopied = document.execCommand("copy");
      area.remove();
      control.focus();
    }
    const before = control.label ??= control.textContent;
    control.textContent = isCopied ? "Copied" : "Not copied";
    announce(isCopied ? "Copied" : "The browser did not allow the copy");
    setTimeout(() => { control.textContent = before; }, 1500);
  }

  byId("clear").addEventListener("click", async () => {
    close();
    calls.clear();
    refresh();
    try {
      const answer = await fetch("calls", { method: "DELETE" });
      announce(answer.ok ? "All calls removed" : "The app did not remove its calls");
    } catch { tell(GONE + ", so its calls were only removed here."); }
  });

  byId("open").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", (event) => {
    for (const file of event.target.files) openFile(file);
    event.target.value = "";
  });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    for (const file of event.dataTransfer?.files ?? []) openFile(file);
  });

  function tell(text) {
    announce(text);
    byId("notice").textContent = text;
  }
  byId("save").addEventListener("click", (event) => {
    if (byId("connection").dataset.state !== "lost") return;
    event.preventDefault();
    tell(`${GONE}, so it cannot save its calls.`);
  });

  async function openFile(file) {
    if (file.size > 300_000_000) return tell("The file is larger than 300 MB.");
    let entries;
    try {
      entries = JSON.parse((await file.text()).replace(/^\ufeff/, ""))?.log?.entries;
    } catch { return tell("The file is no JSON, so it is no HAR file."); }
    if (!Array.isArray(entries)) return tell("The file has no log.entries, so it is no HAR file.");
    const isObject = (value) => value && typeof value === "object" && !Array.isArray(value);
    const kept = entries.slice(0, 50_000).filter((entry) => isObject(entry) && isObject(entry.request));
    for (const entry of kept) importEntry(entry);
    const rest = entries.length - kept.length;
    tell(`${counted(kept.length, "call")} imported${rest ? `, ${rest} left out` : ""}`);
    refresh();
  }

  // MARK: HAR 1.2, of anybody. Any member may be missing or of another type.

  const object = (value) => value && typeof value === "object" && !Array.isArray(value) ? value : {};
  const array = (value) => Array.isArray(value) ? value : [];
  const string = (value) => typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  const positive = (value) => Number.isFinite(value) && value >= 0 ? value : null;

  function importEntry(entry) {
    const request = object(entry.request), response = object(entry.response), content = object(response.content);
    const isStatus = Number.isInteger(response.status) && response.status > 0 && response.status < 1000;
    const status = isStatus ? response.status : null;
    const messages = array(entry._webSocketMessages).length, isSocket = messages || entry._resourceType === "websocket";
    const type = string(content.mimeType).split(";")[0].trim();
    const started = Date.parse(string(entry.startedDateTime)), failure = string(response._error);
    const isCanceled = /^(cancell?ed|net::ERR_ABORTED|NS_BINDING_ABORTED)$/.test(failure);
    const state = isCanceled ? "cancelled" : status && status < 400 && !failure ? "finished" : "failed";
    const call = store(`h${++imports}`, {
      imported: true, started: Number.isNaN(started) ? null : started, method: string(request.method) || "GET",
      url: string(request.url), state, status, duration: positive(entry.time),
      size: positive(content.size), type: type || null, attempts: 1, exchanges: 1, messages,
      source: entry._fromCache ? "cache" : status === 304 ? "revalidated" : "network",
      kind: isSocket ? "websocket" : type === "text/event-stream" ? "events" : "http",
      error: state === "cancelled" ? null : failure || (status ? null : "The file has no response."),
    });
    // The detail is made when the call is chosen.
    Object.defineProperty(call, "entry", { value: entry });
  }

  function importedDetail(call) {
    const { entry } = call, request = object(entry.request), response = object(entry.response);
    const timings = object(entry.timings), posted = object(request.postData), content = object(response.content);
    const known = (name) => positive(timings[name]) ?? 0;
    const phases = [];
    let at = 0;
    for (const [name, duration] of [
      ["queue", known("blocked")], ["DNS", known("dns")], ["connect", Math.max(0, known("connect") - known("ssl"))],
      ["TLS", known("ssl")], ["send", known("send")], ["wait", known("wait")], ["receive", known("receive")],
    ]) {
      if (duration > 0) phases.push({ name, at, duration });
      at += duration;
    }
    const messages = array(entry._webSocketMessages).map(object).map((message) => importedMessage(message, call));
    const pair = (field) => [string(object(field).name), string(object(field).value)];
    const pairs = (list) => array(list).slice(0, 5000).map(pair);
    const form = pairs(posted.params).map((pair) => pair.join("=")).join("&");
    const sent = {
      method: call.method, url: call.url, headers: pairs(request.headers),
      body: importedBody(string(posted.text) || form, posted.mimeType, posted._encoding),
    };
    const received = call.status && {
      status: call.status, headers: pairs(response.headers),
      body: importedBody(string(content.text), content.mimeType, content.encoding, call.size),
    };
    return {
      ...call,
      steps: [{ at: 0, kind: "note", text: "imported from a HAR file", attempt: 0 }],
      exchanges: [{
        number: 1, attempt: 1, at: 0, duration: call.duration ?? at,
        outcome: call.status ? String(call.status) : call.error ?? "canceled", error: call.status ? call.error : null,
        protocol: string(response.httpVersion), remote: string(entry.serverIPAddress), phases,
        request: sent, response: received,
      }],
      messages,
      curl: curl(sent), stub: stub(sent, received, call.kind === "websocket" && received?.status === 101 ? messages : null), error: call.error && { summary: call.error, text: call.error },
    };
  }

  /** Any opcode but that of a text has its bytes in base64. */
  function importedMessage(message, call) {
    const at = Math.max(0, (positive(message.time) ?? 0) * 1000 - (call.started ?? 0)), text = string(message.data);
    const shared = { at, sent: message.type === "send" };
    if (message.type === "error") return { ...shared, kind: "error", text };
    const data = message.opcode === 2 || message.opcode === 8 ? decoded(text) : null;
    if (!data) return { ...shared, kind: "text", size: new TextEncoder().encode(text).length, text };
    if (message.opcode === 2) return { ...shared, kind: "binary", size: data.length, text: null, base64: text };
    const code = data.length > 1 ? [String(data[0] * 256 + data[1]), new TextDecoder().decode(data.subarray(2))] : [];
    return { ...shared, kind: "close", size: data.length, text: code.filter(Boolean).join(" ") };
  }

  function importedBody(text, type, encoding, size) {
    const body = { size: size ?? text.length, type: string(type) };
    if (text === "") return size ? { ...body, omitted: "the file has no text of it" } : null;
    if (encoding !== "base64") return { ...body, text, isUnicode: true };
    try {
      return { ...body, text: new TextDecoder("utf-8", { fatal: true }).decode(decoded(text)) };
    } catch { return { ...body, base64: text }; }
  }

  /** Returns a command for a shell. It contains no control characters: some terminals obey pasted ones. */
  function curl({ method, url, headers, body }) {
    const token = /^[\w!#$%&'*+.^`|~-]+$/, hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
    const code = (found) => {
      const number = found.codePointAt(0), [letter, length] = number < 0x80 ? ["x", 2] : number < 0x10000 ? ["u", 4] : ["U", 8];
      return `\\${letter}${number.toString(16).padStart(length, "0")}`;
    };
    const quoted = (text) => text.search(hidden) < 0 ? `'${text.replaceAll("'", "'\\''")}'`
      : `$'${text.replace(/['\\]/g, "\\$&").replace(hidden, code)}'`;
    if (!/^(https?|wss?):\/\//i.test(url) || !token.test(method) || body?.base64) return null;
    // With another option for HEAD, curl would wait for a body.
    const option = method === "HEAD" && !body?.text ? "--head" : `--request ${quoted(method)}`;
    const words = ["curl --globoff", option, `--url ${quoted(url)}`, "--path-as-is"];
    for (const [name, value] of headers) {
      if (!token.test(name) || /^(content-length|host|connection)$/i.test(name)) continue;
      words.push(`--header ${quoted(value === "" ? `${name};` : `${name}: ${value}`)}`);
    }
    if (body?.text) words.push(`--data-raw ${quoted(body.text)}`);
    return words.join(" \\\n  ");
  }

  /** The mask of an archive, and the fields to which a client reacts. */
  const MASK = "REDACTED", KEPT = /^(cache-control|etag|last-modified|link|location|retry-after|vary|www-authenticate)$/i;

  /** Returns a URL as a stub matches it: without fragment, with http for ws, and open where it is masked. */
  function openURL(url) {
    const text = url.split("#")[0].replace(/^ws(s?):/i, "http$1:"), mark = text.indexOf("?");
    const [path, query] = mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
    const authority = /^[a-z][a-z0-9+.-]*:\/\//i.test(path) ? 2 : -1;
    const open = (part, index) => !part.includes(MASK) ? part : index === authority ? part.split("@").at(-1) : "*";
    const items = query.split("&").filter((item) => item && !item.includes(MASK));
    return path.split("/").map(open).join("/") + (items.length ? `?${items.join("&")}` : "");
  }

  /** Returns Swift code that stubs an imported exchange, in the form of the recorded ones. */
  function stub({ method, url }, response, messages) {
    if (!response) return null;
    const unit = (found) => found === "\n" ? "\\n" : `\\u{${found.codePointAt(0).toString(16)}}`;
    const literal = (text) => `"${text.replace(/["\\]/g, "\\$&").replace(HIDDEN, unit)}"`;
    const known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].includes(method);
    const matcher = known ? `.${method.toLowerCase()}(` : `.method(HTTPMethod(rawValue: ${literal(method)}), `;
    const { status, body } = response, type = body?.type ?? "";
    const isJSON = type.split(";")[0].trim() === "application/json";
    const fields = response.headers.filter(([name]) => KEPT.test(name))
      .map(([name, value]) => [name, /^location$/i.test(name) ? openURL(value) : value]);
    // The stub sends the text of an archive as UTF-8, whatever the charset of the server.
    const shown = body?.isUnicode ? type.replace(/(;\s*charset=)("[^"]*"|[^;]*)/i, "$1utf-8") : type;
    if (type && !isJSON) fields.unshift(["Content-Type", shown]);
    const pairs = fields.filter(([, value]) => !value.includes(MASK)).map((field) => field.map(literal).join(": "));
    const headers = pairs.length ? `, headers: [${pairs.join(", ")}]` : "", rest = `, statusCode: ${status}${headers}`;
    const step = ({ sent, kind, text, base64 }) => {
      if (sent) return kind === "close" ? "" : ".receive";
      if (kind === "close") {
        const [code, ...reason] = text.split(" ");
        return `.close(${code || "nil"}${reason.length ? `, reason: ${literal(reason.join(" "))}` : ""})`;
      }
      if (kind === "error") return ".reset";
      return base64 !== undefined ? `.binary(Data(base64Encoded: ${literal(base64)}) ?? Data())` : `.text(${literal(text)})`;
    };
    const protocol = response.headers.filter(([name, value]) => /^sec-websocket-protocol$/i.test(name) && !value.includes(MASK)).slice(0, 1)
      .map(([, value]) => `subprotocol: ${literal(value)}`);
    // The stub answers a Close frame of the client.
    const ownClose = messages?.findIndex(({ sent, kind }) => sent && kind === "close") ?? -1;
    const played = messages?.filter(({ sent, kind }, index) => ownClose < 0 || index < ownClose || sent || kind === "error");
    const answer = played ? `.webSocket(${[...played.map(step).filter(Boolean), ...protocol].join(", ")})` : typeof body?.text === "string" ? `.${isJSON ? "json" : "text"}(${literal(body.text)}${rest})`
      : body?.base64 ? `.data(Data(base64Encoded: ${literal(body.base64)}) ?? Data()${rest})` : `.status(${status}${headers})`;
    return `session.stub(\n    ${matcher}${literal(openURL(url))}), with:\n    ${answer})`;
  }

  // MARK: Keys of the whole page

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isTyping = event.target.matches?.("input, select, textarea");
    if (event.key === "/" && !isTyping) {
      if (list.inert) close();
      byId("search").focus();
      byId("search").select();
    } else if (event.key === "Escape" && event.target === byId("search")) {
      if (byId("search").value) { byId("search").value = ""; readFilter(); } else grid.focus();
    } else if (event.key === "Escape" && !detail.hidden) close();
    else if (event.key === "ArrowDown" && event.target === byId("search")) {
      grid.focus();
      if (rows.items.length && !rows.items.some((call) => call.key === rows.active)) rows.activate(rows.items[0]);
    } else return;
    event.preventDefault();
  });

  refresh();
  connect();
})();
</script>
</body>
</html>
"""##
