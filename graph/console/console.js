// Improves the pages, which are complete without a script: times in the browser's zone, buttons that copy, lists that refresh.
"use strict";

// Every five seconds a visible page is read again, and its changed parts are replaced. A part does not change while the operator
// fills in one of its forms or selects text in it.
const live = document.getElementById("live"), shown = new Map();
for (const part of document.querySelectorAll("[data-part]")) shown.set(part.id, part.innerHTML);
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
  if (document.hidden || live.stopped) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Stoa-Refresh": "1" } }).catch(() => null);
  if (answer?.ok) renewed = new Date();
  const since = renewed.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  stale.textContent = answer?.ok ? "" : answer?.status === 401 ? "You are signed out." : `Not renewed since ${since}.`;
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of page ? document.querySelectorAll("[data-part]") : []) {
    const next = page.getElementById(part.id);
    if (!next || next.innerHTML === shown.get(part.id) || held(part)) continue;
    shown.set(part.id, next.innerHTML);
    localise(next);
    swap(part, document.adoptNode(next));
  }
}
let renewed = new Date();
const stale = document.createElement("p");
stale.className = "wrong";
stale.role = "status";
if (live) {
  live.after(stale);
  live.hidden = false;
  live.onclick = () => (live.textContent = (live.stopped = !live.stopped) ? "Refresh by itself" : "Stop refreshing");
  document.addEventListener("visibilitychange", refresh);
  setInterval(refresh, 5000);
}

// The server writes times in UTC, and filters and forms take UTC; pointing at a time shows it in UTC.
function localise(part) {
  const day = { day: "numeric", month: "short", year: "numeric" }, minute = { hour: "2-digit", minute: "2-digit" };
  for (const time of part.querySelectorAll("time"))
    time.textContent = new Date(time.dateTime).toLocaleString("en-GB", time.matches(".stream time") ? minute : { ...day, ...minute });
  for (const name of part.querySelectorAll(".zone")) name.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
localise(document);

for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      button.textContent = "Copied";
    } catch {
      text.select();
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  text.after(button);
}
