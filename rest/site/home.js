// Improves the first page, which is complete without a script. "use strict" holds for all of it.
"use strict";

// Each text to copy gets a button that copies it; a click on the text selects all of it.
for (const text of document.querySelectorAll(".copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch { // browsers let only pages over https, or of this machine, write to the clipboard
      getSelection().selectAllChildren(text);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  text.after(button);
}

// Twice a minute the page is read again while it is visible, and the parts that have changed are replaced, except the part that
// the reader uses. For readers who prefer reduced motion this is off at first.
const renews = document.getElementById("renews"), said = ["Renew by itself", "Stop renewing"];
let still = matchMedia("(prefers-reduced-motion: reduce)").matches;
async function renew() {
  if (still || document.hidden) return;
  const answer = await fetch("/", { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of page ? document.querySelectorAll("[data-part]") : []) {
    const next = page.getElementById(part.id), chosen = getSelection();
    if (!next || next.innerHTML === part.innerHTML || part.matches(":hover") || part.contains(document.activeElement) ||
      !chosen.isCollapsed && part.contains(chosen.anchorNode)) continue;
    const left = part.querySelector(".strip")?.scrollLeft;
    part.replaceWith(document.adoptNode(next));
    if (left) next.querySelector(".strip")?.scrollTo(left, 0);
  }
}
const show = () => { renews.textContent = said[Number(!still)]; };
if (renews) {
  renews.hidden = false;
  show();
  renews.onclick = () => { still = !still; show(); renew(); };
  document.addEventListener("visibilitychange", renew);
  setInterval(renew, 30000);
}
