// Refreshes the parts of a page that have changed, when the server says so. The page is whole without it.
let button = document.getElementById("live"), shown = new Map(), source, busy, again, late, stopped;
for (const part of document.querySelectorAll("[data-part]")) shown.set(part.id, part.innerHTML);
// A part stays as it is while the operator fills in a form of it or marks a text.
const held = (part) => part.contains(document.activeElement) && document.activeElement.closest("form") ||
  !getSelection().isCollapsed && part.contains(getSelection().anchorNode);
function swap(part, next) {
  const at = part.contains(document.activeElement) && document.activeElement;
  const pairs = (of) => [...part.querySelectorAll(of)].map((old, i) => [old, next.querySelectorAll(of)[i]]);
  for (const [old, made] of pairs("details")) made && (made.open = old.open);
  const scrolled = pairs(".scroll").map(([old, made]) => [made, old.scrollLeft, old.scrollTop]);
  part.replaceWith(next);
  for (const [made, left, top] of scrolled) made?.scrollTo(left, top);
  if (at) [...next.querySelectorAll(at.tagName)].find((e) => e.href === at.href)?.focus({ preventScroll: true });
}
async function refresh() {
  if (busy) return void (again = true);
  [busy, again, late] = [true, false, false];
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of page ? document.querySelectorAll("[data-part]") : []) {
    const next = page.getElementById(part.id);
    if (!next || next.innerHTML === shown.get(part.id)) continue;
    if (held(part)) late = true;
    else shown.set(part.id, next.innerHTML), swap(part, document.adoptNode(next));
  }
  busy = false;
  if (again) refresh();
}
function connect() {
  source = void source?.close();
  if (document.hidden || stopped) return;
  source = new EventSource("/live?of=" + button.dataset.of);
  source.addEventListener("changed", refresh);
  source.onopen = source.onerror = (e) => (button.hidden = e.target.readyState === EventSource.CLOSED);
}
button.onclick = () => (button.textContent = (stopped = !stopped) ? "Refresh by itself" : "Stop refreshing", connect());
document.onvisibilitychange = () => { connect(); if (source) refresh(); };
document.addEventListener("focusout", () => late && setTimeout(refresh));
connect();
