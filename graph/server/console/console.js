// What the pages do better with a script: they propose the reader's time zone, and have buttons that copy. Each is whole without it.
"use strict";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = document.getElementById("zone");
if (zones.value === "UTC") {
  if (![...zones.options].some((o) => o.value === zone)) zones.add(new Option(zone, zone));
  zones.value = zone;
}

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
